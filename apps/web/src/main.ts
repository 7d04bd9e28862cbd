/** The web process: settings in, parts put together, and an end with 0 once every request has its answer. */
import { createPrisma } from '@fencepost/db';
import { ConfigError, createLogger, endOn } from '@fencepost/service';
import { createApp } from './app.ts';
import { readWebConfig, type WebConfig } from './config.ts';
import { startServer } from './server.ts';

/** Requests share these. */
const CONNECTIONS = 10;

try {
  await main(readWebConfig());
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
}

async function main(config: WebConfig): Promise<void> {
  const logger = createLogger('web', config.logLevel);
  const prisma = createPrisma(config.databaseUrl, {
    poolSize: CONNECTIONS,
    applicationName: 'fencepost web',
    onPoolError: (error) => logger.warn({ err: error }, 'idle database connection lost'),
  });
  const server = await startServer(createApp({ prisma, config, logger }), config);

  endOn(process, {
    logger,
    async stop() {
      await server.stop();
      await prisma.$disconnect();
      logger.info({}, 'stopped');
    },
    hurry: server.hurry,
  });
  logger.info({ address: server.address.address, port: server.address.port }, 'listening');
  if (config.apiToken === undefined)
    logger.warn({}, 'no API_TOKEN: everybody who can connect may use the API');
}
