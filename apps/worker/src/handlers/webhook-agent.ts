/**
 * The HTTP agent of webhooks. Whoever registers an endpoint chooses where we connect to, so the address is checked
 * here, where the connection is made, and the address that was checked is the one connected to: a name that resolved
 * to a public address at registration, or a moment ago, gains nothing by resolving to another one now.
 */
import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '@fencepost/jobs';
import { Agent, buildConnector } from 'undici';
import { PrivateAddressError } from './errors.ts';

/** Long for a TCP and TLS handshake, short beside the job's timeout. */
const CONNECT_TIMEOUT_MS = 5_000;

export interface WebhookAgentOptions {
  /** Connects to private and loopback addresses as well. */
  readonly allowPrivate: boolean;
  /** From name to addresses: the system's way by default. */
  readonly resolve?: Resolve;
}

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** It follows no redirects, obeys no proxy, and its idle connections keep no process alive. */
export function createWebhookAgent({ allowPrivate, resolve = lookup }: WebhookAgentOptions): Agent {
  if (allowPrivate) return new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS } });
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: publicOnly(resolve) });
  return new Agent({
    connect(options, callback) {
      const { hostname } = options;
      // An address is connected to without a lookup.
      if (isIP(hostname) === 0 || isPublicAddress(hostname)) connect(options, callback);
      else callback(new PrivateAddressError(hostname, hostname), null);
    },
  });
}

/** One private address among several refuses the name: which of them is connected to is for the network to choose. */
export function publicOnly(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const refused = addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (refused) callback(new PrivateAddressError(hostname, refused.address), []);
      else if (options.all === true || !first) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
