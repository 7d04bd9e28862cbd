/** The two processes of the demo: the built web app and worker, as a deployment runs them. */
import { delimiter, join } from 'node:path';
import { freePort, isFree, repositoryRoot, runCommand } from '@fencepost/testing';
import { DemoError } from './demo-error.ts';
import { startService, type LogLine, type Service } from './service.ts';
import type { Settings } from './settings.ts';

export interface Services {
  webUrl: string;
  web: Service;
  worker: Service;
}

/** Compiles every package; what has not changed comes from turbo's cache. */
export async function build(): Promise<void> {
  const binaries = join(repositoryRoot, 'node_modules/.bin');
  const env = { ...process.env, PATH: `${binaries}${delimiter}${process.env['PATH']}` };
  const { code, output } = await runCommand('turbo', ['run', 'build', '--output-logs=errors-only'], {
    cwd: repositoryRoot,
    env,
    shell: process.platform === 'win32',
  });
  if (code !== 0) throw new DemoError(`the build failed:\n${output}`);
}

/** @throws DemoError when one of them does not start; the other is not left running */
export async function startServices(
  settings: Settings,
  databaseUrl: string,
  onWorkerLine: (line: LogLine) => void,
): Promise<Services> {
  const port = (await isFree(settings.webPort)) ? settings.webPort : await freePort();
  const healthPort = await freePort();
  const env = {
    NODE_ENV: 'development',
    DATABASE_URL: databaseUrl,
    // A way around a pooler, which the embedded database does not have.
    DIRECT_URL: settings.databaseUrl ? (process.env['DIRECT_URL'] ?? '') : '',
    ALLOW_PRIVATE_WEBHOOKS: '1',
  };
  const webUrl = `http://127.0.0.1:${port}`;
  const web = await startService({
    name: 'web',
    env: { ...env, HOST: '127.0.0.1', PORT: String(port) },
    healthUrl: `${webUrl}/readyz`,
  });
  try {
    const worker = await startService({
      name: 'worker',
      // Claims and completions are logged at this level; and what has become of each job is looked at in the end.
      env: { ...env, HEALTH_PORT: String(healthPort), LOG_LEVEL: 'debug', KEEP_COMPLETED: '1' },
      healthUrl: `http://127.0.0.1:${healthPort}/readyz`,
      onLine: onWorkerLine,
    });
    return { webUrl, web, worker };
  } catch (error) {
    web.kill();
    await web.ended;
    throw error;
  }
}
