/** How the demo ends: Ctrl-C, or a process that ends unasked; and the drain that follows. */
import type { Service } from './service.ts';
import type { Services } from './services.ts';

/** Above what the worker allows itself for its drain. */
const DRAIN_MS = 70_000;

export interface Interruption {
  /** Aborted when it is time to stop. */
  readonly signal: AbortSignal;
  /** Settles at the same moment: what was wrong, which is nothing when somebody asked. */
  readonly problems: Promise<string[]>;
}

export function listenForInterruption({ web, worker }: Services): Interruption {
  const controller = new AbortController();
  const problems = new Promise<string[]>((resolve) => {
    const interrupt = (...found: string[]) => {
      resolve(found);
      controller.abort();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (controller.signal.aborted) [web, worker].forEach(({ terminate }) => terminate());
        else interrupt();
      });
    }
    void web.ended.then((how) => interrupt(`web ended unasked (${how}): ${web.lastWords()}`));
    void worker.ended.then((how) => interrupt(`worker ended unasked (${how}): ${worker.lastWords()}`));
  });
  return { signal: controller.signal, problems };
}

/** Ends the web app first, so that the worker drains what is there. Resolves to what did not end as it should. */
export async function drain({ web, worker }: Services): Promise<string[]> {
  return [...(await end('web', web)), ...(await end('worker', worker))];
}

async function end(name: string, { ended, terminate, kill }: Service): Promise<string[]> {
  terminate();
  const timer = setTimeout(kill, DRAIN_MS);
  const how = await ended;
  clearTimeout(timer);
  return how === 'exit code 0' ? [] : [`${name} ended with ${how}, expected exit code 0`];
}
