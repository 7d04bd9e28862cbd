/** Names whose addresses change between registration, lookup and connection: the resolver here is in the test's hands. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWebhookAgent, publicOnly, type Resolve } from '../../src/handlers/webhook-agent.ts';

let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  connections = 0;
});
afterAll(() => {
  server.close();
});

/** Always these, as if the name had them. */
function resolvingTo(...addresses: string[]): Resolve {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_hostname, _options, callback) => callback(null, found);
}

function lookup(all: boolean, resolve: Resolve) {
  return new Promise((done) => publicOnly(resolve)('rebinding.test', { all }, (...results) => done(results)));
}

async function post(allowPrivate: boolean, resolve: Resolve) {
  const agent = createWebhookAgent({ allowPrivate, resolve });
  const { port } = server.address() as AddressInfo;
  try {
    return await request(`http://rebinding.test:${port}/`, { method: 'POST', dispatcher: agent });
  } finally {
    await agent.destroy();
  }
}

describe('a name is refused for what it resolves to when it is connected to', () => {
  test.each([
    ['a private address', ['127.0.0.1']],
    ['a private one among public ones', ['1.1.1.1', '127.0.0.1']],
    ['one behind NAT64', ['64:ff9b::7f00:1']],
    ['one of a cloud’s metadata', ['169.254.169.254']],
  ])('%s', async (_what, addresses) => {
    await expect(post(false, resolvingTo(...addresses))).rejects.toMatchObject({
      code: 'PRIVATE_ADDRESS',
      message: `expected a public address, found rebinding.test, which is ${addresses.at(-1)}`,
    });
    expect(connections).toBe(0);
  });
});

describe('what was checked is what is connected to', () => {
  test('all of it', async () => {
    expect(await lookup(true, resolvingTo('1.1.1.1', '2606:4700::1111'))).toEqual([
      null,
      [
        { address: '1.1.1.1', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
    ]);
  });

  test('or the first, where one is asked for', async () => {
    expect(await lookup(false, resolvingTo('2606:4700::1111', '1.1.1.1'))).toEqual([
      null,
      '2606:4700::1111',
      6,
    ]);
  });

  test('and a name that does not resolve is its own error', async () => {
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    const failing: Resolve = (_hostname, _options, callback) => callback(unknown, []);
    await expect(post(false, failing)).rejects.toBe(unknown);
  });
});
