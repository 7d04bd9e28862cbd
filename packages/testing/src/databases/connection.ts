/** One administrative connection to the test server. */
import pg from 'pg';
import { TestDatabaseError } from '../errors.ts';
import { assertDatabaseUrl, withoutPassword } from './url.ts';

/** @throws TestDatabaseError when the server cannot be reached, without showing the password */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A server that stops under an idle connection emits here; the next query says so too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (cause) {
    const { message, code } = cause as NodeJS.ErrnoException;
    throw new TestDatabaseError(`cannot connect to ${withoutPassword(url)}: ${message || code}`, { cause });
  }
}

/**
 * Checks a setting before anything is built on it.
 * @throws TestDatabaseError naming the setting and what is wrong with it, without showing a password
 */
export async function assertReachable(variable: string, url: string): Promise<void> {
  assertDatabaseUrl(variable, url);
  try {
    await withConnection(url, (client) => client.query('SELECT 1'));
  } catch (cause) {
    throw new TestDatabaseError(`${variable}: ${(cause as Error).message}`, { cause });
  }
}

export async function withConnection<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(url);
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
