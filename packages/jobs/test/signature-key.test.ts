import { expect, test } from 'vitest';
import { signatureKey } from '../src/index.ts';

test('whsec_ and base64 is the bytes behind it, with or without padding', () => {
  const bytes = Buffer.from('0123456789abcdef0123456789');
  expect(signatureKey(`whsec_${bytes.toString('base64')}`)).toEqual(bytes);
  expect(signatureKey(`whsec_${bytes.toString('base64').replace('=', '')}`)).toEqual(bytes);
});

test('any other text is its own bytes', () => {
  expect(signatureKey('a secret of mine, ü')).toEqual(Buffer.from('a secret of mine, ü'));
});

test.each([
  ['', 'nothing'],
  ['fifteen letters', '15 characters'],
  ['x'.repeat(129), '129 characters'],
  ['whsec_', 'a prefix alone'],
  [`whsec_${Buffer.alloc(23).toString('base64')}`, '23 bytes'],
  [`whsec_${Buffer.alloc(65).toString('base64')}`, '65 bytes'],
  [`whsec_${'!'.repeat(40)}`, 'no base64'],
])('%j is none: %s', (secret) => {
  expect(signatureKey(secret)).toBeUndefined();
});
