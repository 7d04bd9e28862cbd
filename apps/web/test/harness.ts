/** The app on a database of its own, without a server. */
import { createPrisma, type PrismaClient } from '@fencepost/db';
import { createTestDatabase } from '@fencepost/testing';
import { pino } from 'pino';
import { afterAll } from 'vitest';
import { createApp, type AppSettings } from '../src/app.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed, where it is JSON: of whatever form the test expects. */
  readonly body: ReturnType<JSON['parse']>;
  readonly text: string;
}

export interface TestApp {
  readonly prisma: PrismaClient;
  readonly databaseUrl: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  request(path: string, init?: RequestInit): Promise<Answer>;
}

const silent = pino({ level: 'silent' });

export async function startApp(config: Partial<AppSettings['config']> = {}): Promise<TestApp> {
  const { url } = await createTestDatabase();
  return appOn(url, config);
}

/** Another replica: its own client and pool on the same database. */
export function appOn(databaseUrl: string, config: Partial<AppSettings['config']> = {}): TestApp {
  const prisma = createPrisma(databaseUrl);
  afterAll(() => prisma.$disconnect());
  const app = createApp({
    prisma,
    config: { apiToken: undefined, allowPrivateWebhooks: false, ...config },
    logger: silent,
  });

  const request = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await app.request(path, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : undefined,
      text,
    };
  };
  return {
    prisma,
    databaseUrl,
    request,
    get: (path, headers = {}) => request(path, { headers }),
    post: (path, body, headers = {}) =>
      request(path, {
        method: 'POST',
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}

export const SECRET = `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`;

export async function registerEndpoint(
  app: TestApp,
  eventTypes: string[],
  host = 'hooks.example',
): Promise<string> {
  const { body } = await app.post('/api/endpoints', { url: `https://${host}/`, secret: SECRET, eventTypes });
  return (body as { id: string }).id;
}
