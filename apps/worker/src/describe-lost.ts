/** What a fenced write would have written, short enough for a log line. */
const MAX_CHARACTERS = 2_000;

export function describeLost(lost: unknown): string | null {
  if (lost === undefined) return null;
  let text: string | undefined;
  try {
    text = JSON.stringify(lost);
  } catch {
    text = 'a value that JSON cannot hold';
  }
  if (text === undefined) return null;
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
