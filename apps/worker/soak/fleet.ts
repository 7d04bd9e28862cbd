/** The worker processes: so many places, each with one at work, and everyone who ever had one. */
import { fileURLToPath } from 'node:url';
import { spawnNode, waitFor, type Exit, type NodeProcess } from '@fencepost/testing';
import type { Proxy } from './proxy.ts';
import type { Random } from './random.ts';
import type { SoakWorkerSettings } from './soak-worker.ts';

const SCRIPT = fileURLToPath(new URL('./soak-worker.ts', import.meta.url));
/** Threads and all, the processes of one place have a wall clock that is five hours ahead from the beginning. */
const SHIFTED_CLOCK = {
  NODE_OPTIONS: `--import=${new URL('../test/fixtures/shift-clock.mjs', import.meta.url).href}`,
};
/** Generous: only ever used up when something is wrong. */
const STARTS_WITHIN_MS = 180_000;
/** Above what a drain, with its tail, and the closing of the pools may take. */
const ENDS_WITHIN_MS = 60_000;

export interface SoakWorker {
  readonly name: string;
  readonly process: NodeProcess;
  /** Its way to the database. */
  readonly proxy: Proxy;
  /** What the driver sent it. */
  readonly sent: NodeJS.Signals[];
  exit: Exit | undefined;
}

export class Fleet {
  /** In the order in which they were started. */
  readonly all: SoakWorker[] = [];
  readonly #proxies: readonly Proxy[];
  readonly #current: SoakWorker[] = [];
  readonly #keepCompleted: boolean;
  #closing = false;

  /** @param proxies one a place. */
  constructor(proxies: readonly Proxy[], { keepCompleted }: Pick<SoakWorkerSettings, 'keepCompleted'>) {
    this.#proxies = proxies;
    this.#keepCompleted = keepCompleted;
  }

  async start(): Promise<void> {
    this.#proxies.forEach((_proxy, place) => this.#spawn(place));
    await this.#up();
  }

  /** One that is up, in its place or draining beside its successor; waits for one. */
  async pick(random: Random): Promise<SoakWorker> {
    return random.pick(await waitFor(() => this.#someUp(), { timeout: STARTS_WITHIN_MS }));
  }

  /** A rolling deploy of one place: the new one starts while the old one drains. */
  deploy(old: SoakWorker): void {
    const place = this.#current.indexOf(old);
    if (place !== -1) this.#spawn(place);
    this.signal(old, 'SIGTERM');
  }

  /** A new process in every place; resolves when every old one has ended. */
  async deployAll(): Promise<void> {
    // Before it is up, a process has no ear for signals.
    await this.#up();
    const old = [...this.#current];
    old.forEach((worker) => this.deploy(worker));
    await this.#up();
    await this.#ended(this.all.filter((worker) => !this.#current.includes(worker)));
  }

  signal(worker: SoakWorker, signal: NodeJS.Signals): void {
    worker.sent.push(signal);
    worker.process.signal(signal);
  }

  /** Drains everyone. Who has not ended in time is left for the judge to find, and killed. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const worker of this.#current) this.signal(worker, 'SIGTERM');
    await this.#ended(this.all);
  }

  /** Nobody is left, whatever has gone wrong. */
  kill(): void {
    this.#closing = true;
    for (const { exit, process } of this.all) if (exit === undefined) process.signal('SIGKILL');
  }

  #someUp(): SoakWorker[] | undefined {
    const up = this.all.filter(isUp);
    return up.length > 0 ? up : undefined;
  }

  async #up(): Promise<void> {
    await waitFor(() => this.#current.every(isUp), { timeout: STARTS_WITHIN_MS });
  }

  async #ended(workers: readonly SoakWorker[]): Promise<void> {
    await waitFor(() => workers.every(({ exit }) => exit !== undefined), { timeout: ENDS_WITHIN_MS }).catch(
      () => {},
    );
    for (const { exit, process } of workers) if (exit === undefined) process.signal('SIGKILL');
    await Promise.all(workers.map(({ process }) => process.exited));
  }

  #spawn(place: number): void {
    const proxy = this.#proxies[place]!;
    const name = `soak-${this.all.length + 1}`;
    const settings: SoakWorkerSettings = { url: proxy.url, name, keepCompleted: this.#keepCompleted };
    const process = spawnNode(SCRIPT, {
      args: [JSON.stringify(settings)],
      env: place === 0 ? SHIFTED_CLOCK : {},
    });
    const worker: SoakWorker = { name, process, proxy, sent: [], exit: undefined };
    this.all.push(worker);
    this.#current[place] = worker;
    void process.exited.then((exit) => {
      worker.exit = exit;
      // Whatever ended it: its place is not left empty.
      if (this.#current[place] === worker && !this.#closing) this.#spawn(place);
    });
  }
}

function isUp({ process, exit }: SoakWorker): boolean {
  return exit === undefined && process.lines.some((line) => line['msg'] === 'status server listening');
}
