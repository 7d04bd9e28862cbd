/** Who is not to blame for a vacuum that is held back; who is: held-snapshot.test.ts. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { findVacuumHolder } from '../src/protocol.ts';
import { openDatabase } from './fixtures/database.ts';

const { url, prisma } = await openDatabase();

/** A session that is asked for its password and does not answer: from Postgres 18 on it is among the activities. */
async function startLogin(): Promise<Socket> {
  const { hostname, port, username, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const parameters = `user\0${decodeURIComponent(username)}\0database\0${pathname.slice(1)}\0\0`;
  const message = Buffer.alloc(8 + Buffer.byteLength(parameters));
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(3 << 16, 4);
  message.write(parameters, 8);
  socket.write(message);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString('latin1', 0, 1)).toBe('R');
  return socket;
}

test('a session that has yet to log in is no standby', async () => {
  await startLogin();
  expect((await findVacuumHolder(prisma))?.kind).not.toBe('standby');
});
