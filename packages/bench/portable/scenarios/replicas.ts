/** The replicas of one scenario, by their number: started, killed, started again, and stopped together at the end. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScenarioError } from './errors.ts';
import { startReplica, type AdapterRecord, type Exit, type Replica } from './replica.ts';

/** Of the published throughput runs. */
const TARGET_DEPTH = 4_000;
/** More than a depth that is kept ever asks for. */
const UNLIMITED_RATE = 50_000;
/** What the harness waits before it kills; the contract says 5 s. */
const STOPS_WITHIN_MS = 10_000;

export interface Ending extends Exit {
  readonly pid: number;
  /** From SIGTERM to the exit. */
  readonly ms: number;
}

/**
 * Who decides how much is offered: the harness, at the rate that the run was told, or the replica itself, which keeps so
 * many jobs waiting. The second is how the harness measures throughput.
 */
export type Load = 'fixed' | 'depth-target';

export interface Crew {
  readonly replicas: number;
  /** Of each replica. */
  readonly workers: number;
  readonly load: Load;
}

export interface ReplicasOptions {
  readonly url: string;
  readonly crew: Crew;
  /** Jobs a second, of all of them together. */
  readonly rate: number;
  hear(record: AdapterRecord): void;
}

export class Replicas {
  /** Rejects when one ends that nobody has ended. */
  readonly crashed: Promise<never>;
  readonly #options: ReplicasOptions;
  readonly #rateEach: number;
  readonly #folder: string;
  readonly #running = new Map<number, Replica>();
  #times = 1;
  #reportCrash!: (error: ScenarioError) => void;

  private constructor(options: ReplicasOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
    this.#rateEach = options.rate / options.crew.replicas;
    this.crashed = new Promise((_resolve, reject) => {
      this.#reportCrash = reject;
    });
    this.crashed.catch(() => {});
  }

  static async startAll(options: ReplicasOptions): Promise<Replicas> {
    const replicas = new Replicas(options, await mkdtemp(join(tmpdir(), 'fencepost-bench-')));
    try {
      await replicas.offer(1);
      // One after the other, as the harness does: the first one migrates.
      for (let instance = 0; instance < options.crew.replicas; instance++) await replicas.start(instance);
    } catch (error) {
      await replicas.close();
      throw error;
    }
    return replicas;
  }

  async start(instance: number): Promise<void> {
    const { url, crew, hear } = this.#options;
    const isPaced = crew.load === 'fixed';
    const replica = await startReplica({
      hear,
      rate: isPaced ? this.#rateEach * this.#times : undefined,
      env: {
        DATABASE_URL: url,
        SCENARIO: 'long_horizon',
        BENCH_INSTANCE_ID: String(instance),
        SAMPLE_EVERY_S: '1',
        PRODUCER_MODE: crew.load,
        PRODUCER_PACING: 'harness',
        PRODUCER_RATE: String(isPaced ? Math.round(this.#rateEach) : UNLIMITED_RATE),
        PRODUCER_RATE_CONTROL_FILE: this.#rateFile,
        TARGET_DEPTH: String(TARGET_DEPTH),
        WORKER_COUNT: String(crew.workers),
        JOB_PAYLOAD_BYTES: '256',
        JOB_WORK_MS: '1',
      },
    });
    this.#running.set(instance, replica);
    void replica.exited.then(({ code, signal }) => {
      if (this.#running.get(instance) !== replica) return;
      this.#reportCrash(
        new ScenarioError(`replica ${instance} ended with ${signal ?? code} by itself:\n${replica.log()}`),
      );
    });
  }

  /** So many times the rate. */
  async offer(times: number): Promise<void> {
    this.#times = times;
    await writeFile(this.#rateFile, String(this.#rateEach * times));
    for (const { pacer } of this.#running.values()) if (pacer) pacer.rate = this.#rateEach * times;
  }

  async kill(instance: number): Promise<void> {
    const replica = this.#running.get(instance);
    this.#running.delete(instance);
    replica?.signal('SIGKILL');
    await replica?.exited;
  }

  /** SIGTERM to all of them at once. One that is still there when the harness would have had enough is killed. */
  async stopAll(): Promise<Ending[]> {
    const replicas = [...this.#running.values()];
    this.#running.clear();
    const startedAt = performance.now();
    return Promise.all(
      replicas.map(async (replica) => {
        replica.closeStdin();
        replica.signal('SIGTERM');
        const enough = setTimeout(() => replica.signal('SIGKILL'), STOPS_WITHIN_MS);
        const exit = await replica.exited;
        clearTimeout(enough);
        return { pid: replica.pid, ...exit, ms: Math.round(performance.now() - startedAt) };
      }),
    );
  }

  /** Nobody is left, whatever has gone wrong. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((instance) => this.kill(instance)));
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #rateFile(): string {
    return join(this.#folder, 'producer_rate.txt');
  }
}
