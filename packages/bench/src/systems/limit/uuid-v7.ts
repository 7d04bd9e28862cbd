/** UUID v7 by hand: 48 bits of milliseconds, the version, random bits. */
import { randomBytes } from 'node:crypto';

/** Random bytes are drawn for so many at a time, as libraries do. */
const POOLED = 256;
const BYTES = 10;

let pool = Buffer.alloc(0);
let offset = 0;

export function uuidV7(): string {
  if (offset === pool.length) {
    pool = randomBytes(POOLED * BYTES);
    offset = 0;
  }
  const random = pool.toString('hex', offset, offset + BYTES);
  offset += BYTES;
  const ms = Date.now().toString(16).padStart(12, '0');
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6, 18)}`;
}
