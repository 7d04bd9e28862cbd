/** A Postgres in a container, where a container runtime answers. */
import type { StartedPostgreSqlContainer } from '@testcontainers/postgresql';

const image = 'postgres:17-alpine';

/** Resolves to undefined, quickly, when no runtime answers. @throws when one does but cannot run the image */
export async function startContainerPostgres(): Promise<StartedPostgreSqlContainer | undefined> {
  // Loaded only here: it takes a second, and most runs on a developer's machine have TEST_DATABASE_URL or no runtime.
  const { getContainerRuntimeClient } = await import('testcontainers');
  const runtime = await getContainerRuntimeClient().catch(() => undefined);
  if (!runtime) return undefined;
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  return new PostgreSqlContainer(image).withCommand(['postgres', '-c', 'max_connections=200']).start();
}
