/** The app with secrets to lose, a log to look through, and what must hold of every answer. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { createTestDatabase } from '@fencepost/testing';
import { pino } from 'pino';
import { afterAll, expect } from 'vitest';
import { createApp } from '../../src/app.ts';
import { registerEndpoint, SECRET, appOn } from '../harness.ts';

export const TOKEN = 'marker-token-that-nobody-is-told';

/** A secret of an endpoint that a request brings, and that no answer tells. */
export const BROUGHT = 'marker-secret-of-an-endpoint';

export interface FuzzedApp {
  readonly app: ReturnType<typeof createApp>;
  readonly prisma: PrismaClient;
  readonly log: readonly string[];
  /** Every row, by table. */
  rows(): Promise<Record<string, number>>;
  /** Holds of any answer to anything. Its parsed body, where it is JSON. */
  check(answer: Answer): ReturnType<JSON['parse']>;
  /** Holds of the log, whatever was asked. */
  checkLog(): void;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export async function startFuzzedApp(): Promise<FuzzedApp> {
  const { url } = await createTestDatabase();
  // Their beginnings: an answer that quotes a piece of one is no better.
  const secrets = [TOKEN, BROUGHT, SECRET].map((secret) => secret.slice(0, 9));
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });
  const prisma = createPrisma(url);
  afterAll(() => prisma.$disconnect());
  const app = createApp({ prisma, logger, config: { apiToken: TOKEN, allowPrivateWebhooks: false } });
  await registerEndpoint(appOn(url), ['user.created']);

  return {
    app,
    prisma,
    log,
    async rows() {
      const [rows = {}] = await prisma.$queryRaw<Record<string, number>[]>`
        SELECT
          (SELECT count(*)::int FROM event) AS events,
          (SELECT count(*)::int FROM endpoint) AS endpoints,
          (SELECT count(*)::int FROM delivery) AS deliveries,
          (SELECT count(*)::int FROM job_queue) AS jobs,
          (SELECT count(*)::int FROM report) AS reports`;
      return rows;
    },
    check({ status, type, text }) {
      expect(status).toBeLessThan(500);
      for (const secret of secrets) expect(text).not.toContain(secret);
      // What a request is made of comes back in part at most.
      expect(text.length).toBeLessThan(60_000);
      if (status < 400) return type.includes('json') && text !== '' ? JSON.parse(text) : undefined;
      expect(type).toBe('application/problem+json');
      if (text === '') return undefined;
      const problem = JSON.parse(text);
      expect(problem).toMatchObject({
        status,
        code: expect.stringMatching(/^[A-Z_]+$/),
        detail: expect.any(String),
      });
      return problem;
    },
    checkLog() {
      const lines = log.join('');
      for (const secret of secrets) expect(lines).not.toContain(secret);
      expect(log.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([]);
    },
  };
}
