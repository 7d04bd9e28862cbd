// What the Prisma CLI works with. DATABASE_URL is only for commands that reach a database: `generate` works without.
import { defineConfig } from 'prisma/config';

const url = process.env.DATABASE_URL;

export default defineConfig({
  schema: 'prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url !== undefined && { datasource: { url } }),
});
