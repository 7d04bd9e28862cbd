/** What a row keeps of a thrown value. JavaScript lets anything be thrown, and getters throw too: this never does. */
import { storableText } from './json.ts';
import { MAX_MESSAGE_CHARACTERS, MAX_STACK_CHARACTERS } from './limits.ts';

export interface Thrown {
  readonly message: string;
  readonly stack: string | null;
}

export function describeThrown(value: unknown): Thrown {
  const isObject = typeof value === 'object' && value !== null;
  const name = isObject ? read(value, 'name') : undefined;
  const message = isObject ? read(value, 'message') : undefined;
  const stack = isObject ? read(value, 'stack') : undefined;
  const text =
    message === undefined ? spell(value) : name && name !== 'Error' ? `${name}: ${message}` : message;
  return {
    message: storableText(text, MAX_MESSAGE_CHARACTERS),
    stack: stack === undefined ? null : storableText(stack, MAX_STACK_CHARACTERS),
  };
}

function read(value: object, property: string): string | undefined {
  try {
    const found: unknown = Reflect.get(value, property);
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

function spell(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null
      ? `thrown: ${JSON.stringify(value)}`
      : `thrown: ${String(value)}`;
  } catch {
    return 'thrown: a value that cannot be read';
  }
}
