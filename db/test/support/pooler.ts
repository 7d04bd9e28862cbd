/** A pooler that forwards everything but the session parameters that its clients ask for, as some do. */
import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';

/** Listens on a free port until `close()`, and resolves to the URL that leads through it. */
export async function startForgetfulPooler(url: string): Promise<{ url: string; close: () => void }> {
  const target = new URL(url);
  const server = createServer((client) => {
    const database = connect(Number(target.port || 5432), target.hostname);
    client.once('data', (startup) => {
      database.write(withoutSettings(startup));
      client.pipe(database);
    });
    database.pipe(client);
    for (const socket of [client, database]) {
      socket.on('error', () => {
        client.destroy();
        database.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: through.href, close: () => server.close() };
}

/** The startup packet: its length, the protocol's version, names and values that each end with a zero byte. */
function withoutSettings(packet: Buffer): Buffer {
  const words = packet.subarray(8).toString('utf8').split('\0');
  const kept: string[] = [];
  for (let index = 0; index + 1 < words.length; index += 2) {
    const [name = '', value = ''] = words.slice(index, index + 2);
    if (['user', 'database', 'client_encoding'].includes(name)) kept.push(name, value);
  }
  const body = Buffer.from(`${kept.join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + body.length, 0);
  packet.copy(head, 4, 4, 8);
  return Buffer.concat([head, body]);
}
