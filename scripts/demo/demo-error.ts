/** Something that the person who started the demo can mend. The message is all that is shown: one line, no stack. */
export class DemoError extends Error {
  readonly code = 'DEMO';
  override readonly name = 'DemoError';
}
