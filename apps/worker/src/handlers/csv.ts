/** One line of CSV (RFC 4180). */

/**
 * Text that a spreadsheet would take for a formula gets an apostrophe in front, since what stands in a cell may come
 * from outside, and opening a report must run nothing.
 */
export function csvLine(cells: readonly (string | number | Date | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | Date | null): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  if (cell instanceof Date) return cell.toISOString();
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
