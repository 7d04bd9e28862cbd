/** What both services, web and worker, have in common: how they read settings, log, and end. */
export { databaseFault, type DatabaseFault } from './database-fault.ts';
export { endOn, type Ending } from './end-on.ts';
export { createLogger } from './logger.ts';
export { ConfigError, readConfig } from './read-config.ts';
export * from './settings.ts';
