/**
 * Which addresses a webhook may go to: those of the public internet. Anything else (loopback, private and link-local
 * networks, carrier NAT, cloud metadata, documentation and benchmark ranges …) would let whoever registers an endpoint
 * talk to the inside of our network. Asked at registration about addresses in URLs, and by the worker about the
 * address that it is about to connect to.
 */
import ipaddr from 'ipaddr.js';

/** @param address an IPv4 or IPv6 address in any spelling; anything else is not public */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast';
  const v6 = parsed as ipaddr.IPv6;
  if (v6.match(NAT64)) return isPublicAddress(ipaddr.fromByteArray(v6.toByteArray().slice(12)).toString());
  return v6.range() === 'unicast' && v6.match(GLOBAL_UNICAST);
}

/**
 * What can be said of a URL's host without asking DNS. A name passes here, and is judged by the addresses that it has
 * when it is connected to.
 *
 * @param hostname as `URL` spells it: IPv6 in brackets, IPv4 in four decimal parts
 */
export function isPublicHost(hostname: string): boolean {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValid(literal)) return isPublicAddress(literal);
  return !/(^|\.)localhost\.?$/i.test(hostname);
}

/** An IPv4 address in its last four bytes, which is where the packet ends up (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** All that IANA gives out today; outside of it are old and odd ranges such as ::/96. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
