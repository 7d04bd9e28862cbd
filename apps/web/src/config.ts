/** The web app's settings, all of them, from the environment. docs/operations.md lists them. */
import { databaseUrl, flag, logLevel, oneOf, port, readConfig } from '@fencepost/service';
import { z } from 'zod';

const MIN_TOKEN_CHARACTERS = 16;
const TOKEN = `at least ${MIN_TOKEN_CHARACTERS} characters without spaces (production does not start without it)`;

const SETTINGS = z
  .object({
    DATABASE_URL: databaseUrl(),
    PORT: port(3000),
    /** Where to listen. By default for everybody in production, and for this machine alone elsewhere. */
    HOST: z
      .string()
      .regex(/^[\w.:-]+$/, { error: 'an address to listen on, such as 0.0.0.0' })
      .optional(),
    /** The bearer token of the API. */
    API_TOKEN: z
      .string()
      .regex(new RegExp(`^\\S{${MIN_TOKEN_CHARACTERS},}$`), { error: TOKEN })
      .optional()
      .meta({ secret: true }),
    /** Takes endpoints on private and loopback addresses: for development. */
    ALLOW_PRIVATE_WEBHOOKS: flag(),
    LOG_LEVEL: logLevel(),
    /** Known words only: a typing error must not turn the demands of production off. */
    NODE_ENV: oneOf(['production', 'development', 'test'], 'development'),
  })
  // Asked even where other settings are wrong, so that all that is wrong is told at once.
  .refine((settings) => settings.NODE_ENV !== 'production' || settings.API_TOKEN !== undefined, {
    path: ['API_TOKEN'],
    error: TOKEN,
    when: () => true,
  });

export type WebConfig = ReturnType<typeof readWebConfig>;

/** @throws ConfigError */
export function readWebConfig(env: NodeJS.ProcessEnv = process.env) {
  const settings = readConfig(SETTINGS, env);
  return {
    databaseUrl: settings.DATABASE_URL,
    port: settings.PORT,
    host: settings.HOST ?? (settings.NODE_ENV === 'production' ? '0.0.0.0' : '127.0.0.1'),
    apiToken: settings.API_TOKEN,
    allowPrivateWebhooks: settings.ALLOW_PRIVATE_WEBHOOKS,
    logLevel: settings.LOG_LEVEL,
  };
}
