/** The processes of the fleet: the workers are dealt out over them. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { repositoryRoot, whenThisProcessIsGone } from '@fencepost/testing';
import { FleetError } from './errors.ts';
import type { HostReport, HostSettings } from './host.ts';

/** Every worker starts a thread of its own, on two cores half a second apiece. */
const UP_WITHIN_MS = { forAll: 60_000, eachWorker: 4_000 };
const DRAINED_WITHIN_MS = 60_000;
const SCRIPT = new URL('./host.ts', import.meta.url);

export interface HostsOptions extends Omit<HostSettings, 'name' | 'workers'> {
  readonly workers: number;
  readonly processes: number;
}

export class Hosts {
  readonly #children: { readonly child: ChildProcess; readonly callOff: () => void; log: string }[] = [];
  /** Of all processes together, once all of them are up, in bytes. */
  residentSet = 0;

  /** @throws FleetError if a process ends, or is not up in time. */
  static async start({ workers, processes, ...settings }: HostsOptions): Promise<Hosts> {
    const hosts = new Hosts();
    const count = Math.min(processes, workers);
    const shares = Array.from({ length: count }, (_, n) => Math.floor((workers + n) / count));
    try {
      const within = UP_WITHIN_MS.forAll + workers * UP_WITHIN_MS.eachWorker;
      const up = shares.map((share, n) => hosts.#spawn({ ...settings, name: `host-${n}`, workers: share }));
      const reports = await Promise.all(up.map((child) => hosts.#hear(child, 'up', within)));
      hosts.residentSet = reports.reduce((sum, report) => sum + report.residentSet, 0);
    } catch (error) {
      hosts.kill();
      throw error;
    }
    return hosts;
  }

  /** @throws FleetError if one does not drain. */
  async drain(): Promise<void> {
    const children = this.#children.map(({ child }) => child);
    const drained = children.map((child) => this.#hear(child, 'drained', DRAINED_WITHIN_MS));
    const ended = children.map((child) => once(child, 'exit'));
    for (const child of children) child.send('drain');
    await Promise.all(drained);
    await Promise.all(ended);
    for (const { callOff } of this.#children) callOff();
    this.#children.length = 0;
  }

  /** Nobody is left, whatever has gone wrong. */
  kill(): void {
    for (const { child, callOff } of this.#children) {
      child.kill('SIGKILL');
      callOff();
    }
    this.#children.length = 0;
  }

  /** What the processes have written, warnings for the most part. */
  log(): string {
    return this.#children.map(({ log }) => log).join('');
  }

  #spawn(settings: HostSettings): ChildProcess {
    const child = fork(SCRIPT, [JSON.stringify(settings)], {
      cwd: repositoryRoot,
      execArgv: ['--conditions=@fencepost/source', '--import', 'tsx'],
      silent: true,
    });
    const entry = { child, callOff: whenThisProcessIsGone({ kill: [child.pid ?? -1] }), log: '' };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (text: Buffer) => (entry.log = (entry.log + text.toString()).slice(-4_000)));
    }
    this.#children.push(entry);
    return child;
  }

  #hear(child: ChildProcess, say: HostReport['say'], withinMs: number): Promise<HostReport> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new FleetError(`a process of the fleet ${why}:\n${this.log()}`));
      const timer = setTimeout(() => fail(`was not ${say} in time`), withinMs);
      child.on('message', (report: HostReport) => {
        if (report.say !== say) return;
        clearTimeout(timer);
        resolve(report);
      });
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        fail(`ended with ${signal ?? code}`);
      });
    });
  }
}
