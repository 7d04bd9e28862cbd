/** Every kind of fault that the driver draws from. */
import * as database from './database.ts';
import type { Fault } from './fault.ts';
import * as handlers from './handlers.ts';
import * as network from './network.ts';
import * as operators from './operators.ts';
import * as process from './process.ts';

export const FAULTS: readonly Fault[] = [process, network, database, operators, handlers].flatMap((kinds) =>
  Object.values(kinds),
);
