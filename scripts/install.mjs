/**
 * Before `npm test`, `npm run demo` and the like: installs what the lock file says, with the pnpm that package.json names.
 * Plain JavaScript without dependencies, because nothing is installed yet.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const { engines, packageManager } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

const needed = engines.node.replace('>=', '');
if (isOlder(process.versions.node, needed)) {
  fail(`Node ${process.versions.node} is too old: ${needed} or newer is needed.`);
}

console.log(`Installing dependencies (${packageManager}) …`);
const { status, error, stdout } = spawnSync(`npx --yes ${packageManager} install --frozen-lockfile 2>&1`, {
  cwd: root,
  shell: true,
  encoding: 'utf8',
});
if (status !== 0) {
  console.error(stdout);
  fail(
    `Installing failed (${error?.message ?? `exit code ${status}`}); what ${packageManager} said is above.`,
  );
}

function isOlder(version, than) {
  const [major, minor] = version.split('.').map(Number);
  const [thanMajor, thanMinor] = than.split('.').map(Number);
  return major < thanMajor || (major === thanMajor && minor < thanMinor);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
