/**
 * Names for prepared statements. A statement that has a name is parsed and planned once a connection instead of once a
 * call; but the server keeps it as long as the connection lives, and Prisma makes a new statement for every length of
 * an IN list. So there are only so many names.
 */
import { createHash } from 'node:crypto';

/**
 * A function that gives the first `limit` SQL texts it sees a name each, always the same for the same text, and `''`,
 * which is not to be prepared, to all others.
 */
export function statementNames(limit: number): (query: { readonly sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= limit) return '';
    const name = `fencepost_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`;
    names.set(sql, name);
    return name;
  };
}
