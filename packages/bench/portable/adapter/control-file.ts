/** A file through which the harness speaks during a run. It is read again when it is asked for, but not more often than agreed. */
import { readFileSync } from 'node:fs';

export class ControlFile<Value> {
  readonly #path: string | undefined;
  readonly #everyMs: number;
  readonly #parse: (text: string) => Value | undefined;
  #value: Value;
  #readAt = -Infinity;

  /**
   * @param path undefined: the value stays what it is at first.
   * @param parse undefined for what cannot be understood, such as a file that is being written: the last value stands.
   */
  constructor(
    path: string | undefined,
    options: { initial: Value; everyMs: number; parse: (text: string) => Value | undefined },
  ) {
    this.#path = path;
    this.#value = options.initial;
    this.#everyMs = options.everyMs;
    this.#parse = options.parse;
  }

  read(): Value {
    const now = performance.now();
    if (this.#path === undefined || now - this.#readAt < this.#everyMs) return this.#value;
    this.#readAt = now;
    this.#value = this.#parse(textOf(this.#path)) ?? this.#value;
    return this.#value;
  }
}

/** Jobs a second. */
export function parseRate(text: string): number | undefined {
  const rate = text.trim() === '' ? Number.NaN : Number(text);
  return rate >= 0 && rate < Infinity ? rate : undefined;
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
