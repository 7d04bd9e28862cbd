import { defineJob } from '@fencepost/queue';
import { z } from 'zod';

export const tick = defineJob({ type: 'bench.tick', payload: z.object({ n: z.int() }) });
