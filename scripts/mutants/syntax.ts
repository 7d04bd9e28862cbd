/**
 * Whether a text is TypeScript at all. Vitest says so of the files that it loads itself; in one that a test runs as a
 * process of its own, a syntax error would look like a fault that was noticed.
 */
import ts from 'typescript';

/** The first thing that is wrong; undefined where the file is no TypeScript by its name, or nothing is. */
export function syntaxError(file: string, text: string): string | undefined {
  if (!file.endsWith('.ts')) return undefined;
  const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true });
  const [first] = diagnostics;
  return first && ts.flattenDiagnosticMessageText(first.messageText, ' ');
}
