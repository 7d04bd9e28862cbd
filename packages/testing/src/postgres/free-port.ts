/** Picks a free TCP port below the range that the system hands to outgoing connections. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// A port of the outgoing range (32768 and up on Linux) can be taken by anybody's connection while a server restarts,
// and a client that keeps trying a closed port of that range can even connect to itself.
const lowest = 15_000;
const highest = 30_000;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) return port;
  }
}

/** Whether 127.0.0.1 would take a listener on `port` right now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
