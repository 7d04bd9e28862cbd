/**
 * The limit's worker: what a queue cannot be faster than on `pg`. A loop a connection: claim, run, settle, where the
 * settlement is not waited for before the next claim is sent. No slots, no retries, no renewal, no drain.
 */
import pg from 'pg';
import { runAll, type Payload, type SystemWorker, type WorkerSettings } from '../system.ts';

/** What a claim answers: lists that are null where nothing was claimed. */
interface Claimed {
  readonly token: string;
  readonly ids: readonly string[] | null;
  readonly payloads: readonly Payload[] | null;
  readonly head: string[] | null;
}

/** A prepared statement. */
interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Statements {
  /** Takes the number of jobs and from where to look; gives what was claimed, and the last of it. */
  readonly claim: Statement;
  /** From where to look to see everything. */
  readonly beginning: readonly string[];
  /** Takes the ids of one claim, and its token. */
  readonly settle: Statement;
  readonly channel: string;
}

/** Settlements of one connection that may be on their way while it claims. */
const SETTLEMENTS_IN_FLIGHT = 2;
/** While nobody notifies. */
const POLL_MS = 1_000;

/** @param point jobs a batch x connections: `500x2` */
export async function openLimitWorker(
  url: string,
  { handler }: WorkerSettings,
  point: string,
  { claim, beginning, settle, channel }: Statements,
): Promise<SystemWorker> {
  const [batch = 500, connections = 1] = point.split('x').map(Number);
  const clients = Array.from({ length: connections }, () => new pg.Client(url));
  const listener = new pg.Client(url);
  for (const client of [listener, ...clients]) await client.connect();

  let wake = () => {};
  let isWoken = false;
  listener.on('notification', () => {
    isWoken = true;
    wake();
  });
  await listener.query(`LISTEN ${channel}`);

  // Of several loops that sleep one is woken, which is enough.
  const sleep = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function work(client: pg.Client): Promise<void> {
    const settling: Promise<void>[] = [];
    let from = beginning;
    for (;;) {
      isWoken = false;
      const { rows } = await client.query<Claimed>({ ...claim, values: [batch, ...from] });
      const { token, ids, payloads, head } = rows[0]!;
      if (ids && payloads) {
        from = head ?? beginning;
        await runAll(payloads, handler);
        settling.push(settleAll(client, ids, token));
        if (settling.length >= SETTLEMENTS_IN_FLIGHT) await settling.shift();
      } else if (from !== beginning) {
        from = beginning;
      } else {
        await Promise.all(settling.splice(0));
        if (!isWoken) await sleep();
      }
    }
  }

  async function settleAll(client: pg.Client, ids: readonly string[], token: string): Promise<void> {
    const { rowCount } = await client.query({ ...settle, values: [ids, token] });
    if (rowCount !== ids.length) throw new Error(`${rowCount} of ${ids.length} were settled`);
  }

  return {
    async go() {
      for (const client of clients) void work(client);
    },
  };
}
