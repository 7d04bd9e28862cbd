/**
 * The majors of Postgres that Fencepost is tested on, each as the package on npm that has its binaries. A new minor is
 * a new line here; the one that everyday tests use stands in packages/testing/package.json.
 */
export const VERSIONS = {
  14: '14.22.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
} as const;

export type Major = keyof typeof VERSIONS;

export const MAJORS = Object.keys(VERSIONS).map(Number) as Major[];
