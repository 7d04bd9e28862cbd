/** The network between a process and the database: it can break off, stall, be slow, and lose the answer to a commit. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Proxy {
  readonly url: string;
  /** Ends every connection. New ones work. */
  cut(): void;
  /** Lets nothing through either way, on no connection, until `resume`. */
  stall(): void;
  resume(): void;
  /** Everything takes so many milliseconds longer each way. */
  delay(ms: number): void;
  /** From now on, what the database answers on the present connections is lost. */
  loseAnswers(): void;
  close(): void;
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  deaf: boolean;
}

export async function startProxy(databaseUrl: string): Promise<Proxy> {
  const { hostname, port } = new URL(databaseUrl);
  const pairs = new Set<Pair>();
  let stalled = false;
  let delayMs = 0;

  const server = createServer((client) => {
    const pair: Pair = { client, upstream: connect(Number(port), hostname), deaf: false };
    const { upstream } = pair;
    pairs.add(pair);
    for (const socket of [client, upstream]) {
      socket.on('error', () => end(pair)).on('close', () => end(pair));
      if (stalled) socket.pause();
    }
    client.on(
      'data',
      lane((data) => upstream.write(data)),
    );
    upstream.on(
      'data',
      lane((data) => pair.deaf || client.write(data)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  /** One direction of a connection: in order, whatever the delay is at the time. */
  function lane(write: (data: Buffer) => unknown): (data: Buffer) => void {
    let passed = Promise.resolve();
    return (data) => {
      passed = passed.then(async () => {
        if (delayMs > 0) await sleep(delayMs);
        write(data);
      });
    };
  }

  function end(pair: Pair): void {
    pairs.delete(pair);
    pair.client.destroy();
    pair.upstream.destroy();
  }

  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  const cut = () => [...pairs].forEach(end);
  return {
    url: url.href,
    cut,
    stall() {
      stalled = true;
      for (const { client, upstream } of pairs) [client, upstream].forEach((socket) => socket.pause());
    },
    resume() {
      stalled = false;
      for (const { client, upstream } of pairs) [client, upstream].forEach((socket) => socket.resume());
    },
    delay(ms) {
      delayMs = ms;
    },
    loseAnswers() {
      for (const pair of pairs) pair.deaf = true;
    },
    close() {
      cut();
      server.close();
    },
  };
}
