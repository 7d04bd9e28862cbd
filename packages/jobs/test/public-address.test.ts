import { describe, expect, test } from 'vitest';
import { isPublicAddress, isPublicHost } from '../src/index.ts';

const inside = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fdaa:0:1::3', 'fc00::1'],
  'link-local and cloud metadata': [
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
  ],
  'carrier NAT': ['100.64.0.1', '100.127.255.255'],
  'multicast and broadcast': ['224.0.0.1', '239.1.1.1', '255.255.255.255', 'ff02::1'],
  'documentation, benchmarks, reserved': [
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '198.18.0.1',
    '192.0.0.1',
    '240.0.0.1',
    '2001:db8::1',
    '100::1',
    '2001:2::1',
    '3fff::1',
  ],
  'IPv4 inside IPv6': [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::127.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::8.8.8.8',
    '2002:7f00:1::',
    '2001::1',
  ],
  'site-local': ['fec0::1'],
  'not given out by IANA': ['::7f00:1', '1::1', '4000::1', 'e000::1'],
  'odd spellings': ['0x7f.1', '2130706433', '0177.0.0.1', '127.1'],
  'no addresses': ['', 'localhost', 'example.com', '1.2.3.4.5', '[::1]'],
};

describe('isPublicAddress', () => {
  test.each(Object.entries(inside).flatMap(([kind, list]) => list.map((address) => [kind, address])))(
    '%s: %s is not',
    (_kind, address) => {
      expect(isPublicAddress(address)).toBe(false);
    },
  );

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '169.253.1.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
  ])('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('isPublicHost', () => {
  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://127.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://①②⑦.0.0.1/',
    'http://169.254.169.254/latest',
    'http://localhost/',
    'http://LOCALHOST:80/',
    'http://localhost./',
    'http://app.localhost/',
  ])('%s is not', (url) => {
    expect(isPublicHost(new URL(url).hostname)).toBe(false);
  });

  test.each([
    'https://example.com/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://notlocalhost/',
  ])('%s may be', (url) => {
    expect(isPublicHost(new URL(url).hostname)).toBe(true);
  });
});
