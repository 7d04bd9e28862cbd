/**
 * The adapter for the public harness hardbyte/postgresql-job-queue-benchmarking: one process with a producer and a
 * worker. The environment comes in, samples go out on stdout, the log goes to stderr; SIGTERM ends it. README.md says
 * how it is run, and how it keeps to the contract.
 */
import { createPrisma, parseDatabaseUrl } from '@fencepost/db';
import { ConfigError, endOn } from '@fencepost/service';
import { destination, pino } from 'pino';
import { readAdapterConfig, type AdapterConfig } from './adapter/config.ts';
import { createConsumer } from './adapter/consumer.ts';
import { benchContracts } from './adapter/contracts.ts';
import { Enqueuer } from './adapter/enqueuer.ts';
import { Failures } from './adapter/failures.ts';
import { gateOpens } from './adapter/gate.ts';
import { HerdTally } from './adapter/herd-tally.ts';
import { layHerds } from './adapter/herd.ts';
import { Observer } from './adapter/observer.ts';
import { produce } from './adapter/producer.ts';
import { createReadings } from './adapter/readings.ts';
import { writeDescriptor, writeSamples } from './adapter/records.ts';
import { atMost } from './adapter/rest.ts';
import { sampleOnTicks } from './adapter/sampler.ts';
import { Tally } from './adapter/tally.ts';

const PRODUCER_CONNECTIONS = 4;
/** The contract gives five seconds from the signal to the exit, and a drain takes up to five longer when nothing answers. */
const DRAIN_TIMEOUT_MS = 500;
/** For what is under way besides, each: a database that is away is not waited for. */
const MOMENT_MS = 1_000;

try {
  main(readAdapterConfig());
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}

function main(config: AdapterConfig): void {
  // A storm of failures on purpose is nothing to log.
  const level = config.failureFile === undefined ? 'warn' : 'fatal';
  const logger = pino({ name: 'fencepost-bench', level }, destination({ fd: 2, sync: true }));
  const failed = (error: unknown) => logger.warn({ err: error }, 'a statement of the bench has failed');

  const contracts = benchContracts(config.queues, config.maxAttempts);
  const tally = new Tally();
  const failures = new Failures(config.failureFile);
  const herd = new HerdTally();
  const consumer = createConsumer({ config, contracts, logger, tally, failures, herd });
  const { worker, metrics } = consumer;
  // The web app's side has connections of its own.
  const prisma = createPrisma(config.databaseUrl, {
    applicationName: 'fencepost bench producer',
    poolSize: PRODUCER_CONNECTIONS,
    onPoolError: failed,
  });
  const enqueuer = new Enqueuer(prisma, { config, contracts, failures, tally });
  const observer = new Observer(prisma, tally);
  const readings = createReadings({ config, contracts, tally, failures, herd, observer, metrics });

  const offering = new AbortController();
  const sampling = new AbortController();
  const enqueue = (count: number) => enqueuer.enqueue(count);
  const producing = produce(
    { config, tally, observer, enqueue, failed, stdin: process.stdin },
    offering.signal,
  );
  const herding =
    config.scheduleFile !== undefined && config.instance === 0
      ? layHerds(config.scheduleFile, herd, {
          lay: (batch) => enqueuer.layHerd(batch),
          failed,
          signal: offering.signal,
        })
      : undefined;
  const watching =
    config.instance === 0 || config.producerMode === 'depth-target'
      ? observer.watch(offering.signal, failed)
      : undefined;
  const sampled = sampleOnTicks({
    everyS: config.sampleEveryS,
    signal: sampling.signal,
    sample: async (at, elapsedS) => writeSamples(config.instance, at, await readings(elapsedS)),
  });
  void gateOpens(config.gateFile, offering.signal).then((isOpen) => {
    if (isOpen) worker.start();
  });

  endOn(process, {
    logger,
    async stop() {
      offering.abort();
      await worker.drain({ timeoutMs: DRAIN_TIMEOUT_MS });
      await atMost(MOMENT_MS, Promise.all([producing, herding, watching]));
      sampling.abort();
      await sampled;
      await atMost(MOMENT_MS, Promise.all([prisma.$disconnect(), consumer.prisma.$disconnect()]));
    },
    hurry: worker.hurry,
  });
  writeDescriptor(config.instance, parseDatabaseUrl(config.databaseUrl).database);
}
