/** The thread of the lease renewer: its connections, its clock, and the port to the main thread. */
import { workerData, type MessagePort } from 'node:worker_threads';
import { createRawClient } from '@fencepost/db/raw';
import { systemClock } from './clock.ts';
import type { ToRenewer } from './lease-messages.ts';
import { GIVE_UP_MS, LeaseRenewer } from './lease-renewer.ts';

/** One for the statement under way, and two for those that come after one without an answer. */
const CONNECTIONS = 3;

export interface LeaseThreadData {
  readonly url: string;
  readonly port: MessagePort;
}

const { url, port } = workerData as LeaseThreadData;
const renewer = new LeaseRenewer({
  client: createRawClient(url, {
    applicationName: 'fencepost worker leases',
    poolSize: CONNECTIONS,
    queryTimeoutMs: GIVE_UP_MS,
    fixedPlans: true,
  }),
  clock: systemClock,
  tell: (message) => port.postMessage(message),
});
port.on('message', (message: ToRenewer) => renewer.hear(message));
renewer.start();
