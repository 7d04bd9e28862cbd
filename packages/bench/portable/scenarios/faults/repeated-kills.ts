/** `repeated-kill(instance=0)`: one of two replicas is killed and started again three times. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';

const KILLS = 3;
/** From the kill to the start, as the harness does it. */
const PAUSE_MS = 1_000;

export const repeatedKills: Fault = async ({ replicas }, seconds) => {
  const whole = sleep(seconds * 1_000);
  for (let kills = 0; kills < KILLS; kills++) {
    const period = sleep((seconds * 1_000) / KILLS);
    await replicas.kill(0);
    await sleep(PAUSE_MS);
    await replicas.start(0);
    await period;
  }
  await whole;
};
