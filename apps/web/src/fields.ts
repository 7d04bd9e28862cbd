/** The kinds of values that requests are made of. Whatever passes here, Postgres can store. */
import { z } from 'zod';
import { jsonFault } from './json-fault.ts';

export const eventType = z
  .string()
  .regex(/^[\w.-]{1,200}$/, 'Expected 1 to 200 letters, digits, ".", "-" or "_"');

export const text = z
  .string()
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    'Holds a NUL character or a lone surrogate',
  );

/** A JSON object, kept key for key. */
export const jsonObject = z.custom<Record<string, unknown>>().superRefine((value, ctx) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    ctx.addIssue({ code: 'custom', message: 'Expected a JSON object' });
    return;
  }
  const fault = jsonFault(value);
  if (fault) ctx.addIssue({ code: 'custom', ...fault });
});

/** Lists go from the youngest to the oldest, a page at a time. */
export const page = {
  before: z.guid('Expected the "next" of the page before: a UUID').optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
};
