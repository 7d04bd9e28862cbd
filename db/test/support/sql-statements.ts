/** Splits a SQL script into its statements, without their comments. */

/** What may hold a semicolon that ends nothing: comments, quoted names, strings, bodies between dollars. */
const opaque = /--[^\n]*|\/\*.*?\*\/|"(?:[^"]|"")*"|E?'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$/gis;

export function splitStatements(script: string): string[] {
  const pieces: string[] = [];
  const skeleton = script.replaceAll(opaque, (piece) => {
    if (piece.startsWith('--') || piece.startsWith('/*')) return ' ';
    pieces.push(piece);
    return `\0${pieces.length - 1}\0`;
  });
  return skeleton
    .split(';')
    .map((statement) => statement.replaceAll(/\0(\d+)\0/g, (_, index) => pieces[Number(index)] ?? '').trim())
    .filter((statement) => statement !== '');
}
