/**
 * The limit's worker: what a queue cannot be faster than on `pg`. A loop a connection: claim, run, settle, where the
 * settlement is not waited for before the next claim is sent. No slots, no retries, no renewal, no drain.
 */
import pg from 'pg';
import { runAll, type Payload, type SystemWorker, type WorkerSettings } from '../system.ts';

/** Of a claimed row: its id, its token and its payload. */
type Claimed = readonly [id: string, token: string, payload: Payload];

/** A prepared statement. */
interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Statements {
  /** Takes the number of jobs and from where to look; gives what was claimed as one JSON value, and the last of it. */
  readonly claim: Statement;
  /** From where to look to see everything. */
  readonly beginning: readonly string[];
  /** Takes ids and tokens. */
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
      const { rows } = await client.query<{ claimed: string | null; head: string[] | null }>({
        ...claim,
        values: [batch, ...from],
      });
      const claimed = JSON.parse(rows[0]?.claimed ?? '[]') as Claimed[];
      if (claimed.length > 0) {
        from = rows[0]?.head ?? beginning;
        const payloads = claimed.map(([, , payload]) => payload);
        await runAll(payloads, handler);
        settling.push(settleAll(client, claimed));
        if (settling.length >= SETTLEMENTS_IN_FLIGHT) await settling.shift();
      } else if (from !== beginning) {
        from = beginning;
      } else {
        await Promise.all(settling.splice(0));
        if (!isWoken) await sleep();
      }
    }
  }

  async function settleAll(client: pg.Client, claimed: readonly Claimed[]): Promise<void> {
    const ids = claimed.map(([id]) => id);
    const tokens = claimed.map(([, token]) => token);
    const { rowCount } = await client.query({ ...settle, values: [ids, tokens] });
    if (rowCount !== claimed.length) throw new Error(`${rowCount} of ${claimed.length} were settled`);
  }

  return {
    async go() {
      for (const client of clients) void work(client);
    },
  };
}
