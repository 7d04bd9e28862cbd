/**
 * `npm run bench`: installs what this package's own lock file says, and starts the bench on the Node that comes with it,
 * because some of the systems need a newer one than the rest of the repository. Plain JavaScript without dependencies,
 * because nothing is installed yet.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;
const here = new URL('.', import.meta.url);
const root = new URL('../..', here);
const { packageManager } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

// Not part of the workspace, so that nobody who works on the queue has to install its competitors.
install(root, 'install --frozen-lockfile');
install(here, 'install --ignore-workspace --frozen-lockfile');

const flags = ['--conditions=@fencepost/source', '--import', 'tsx'];
const main = fileURLToPath(new URL('src/main.ts', here));
const bench = spawn(node(), [...flags, main, ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => bench.kill(signal));
bench.on('exit', (code) => process.exit(code ?? 1));

function install(folder, command) {
  const { status, stdout } = spawnSync(`npx --yes ${packageManager} ${command} 2>&1`, {
    cwd: folder,
    shell: true,
    encoding: 'utf8',
  });
  if (status === 0) return;
  console.error(`${stdout}\nInstalling failed in ${fileURLToPath(folder)}.`);
  process.exit(1);
}

/** npm's package for this platform where there is one, else the Node that runs this. */
function node() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const installed = new URL(`node_modules/${name}/bin/${file}`, here);
  if (existsSync(installed)) return fileURLToPath(installed);
  if (Number(process.versions.node.split('.')[0]) >= NEEDED) return process.execPath;
  console.error(`npm has no Node ${NEEDED} for this platform: start the bench with one.`);
  process.exit(1);
}
