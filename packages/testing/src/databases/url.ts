/** Connection URLs: another database of the same server, and what may be printed. */
import { TestDatabaseError } from '../errors.ts';

/** @throws TestDatabaseError that shows little of a value which may be anything, a password included */
export function assertDatabaseUrl(variable: string, value: string): void {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url && isPostgres(url) && url.hostname && url.pathname.length > 1) return;
  const found = !url
    ? `${value.length} characters that are no URL`
    : !isPostgres(url)
      ? `the protocol "${url.protocol}"`
      : `no ${url.hostname ? 'database' : 'host'} in it`;
  throw new TestDatabaseError(
    `${variable} is not the URL of a database: found ${found}, expected postgresql://user:password@host:5432/database`,
  );
}

function isPostgres({ protocol }: URL): boolean {
  return protocol === 'postgresql:' || protocol === 'postgres:';
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** The URL as it may be shown: without password and without parameters, which can hold one as well. */
export function withoutPassword(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username ? `${username}@` : ''}${host}${pathname}`;
}
