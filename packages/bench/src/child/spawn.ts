/** The bench's end of the line: child processes on the Node of this one, which end with it. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { repositoryRoot } from '@fencepost/testing';
import { findContestant } from '../systems/index.ts';
import type { Answer, ChildCalls, ChildEvent, Question } from './calls.ts';

export interface Child<Role extends keyof ChildCalls> {
  call<Name extends keyof ChildCalls[Role] & string>(
    name: Name,
    argument: AsCall<ChildCalls[Role][Name]>['argument'],
  ): Promise<AsCall<ChildCalls[Role][Name]>['answer']>;
  on(listener: (event: ChildEvent) => void): void;
  /** Ends it in whatever state it is. */
  end(): Promise<void>;
}

type AsCall<Call> = Call extends { argument: unknown; answer: unknown } ? Call : never;

/** Longer than anything that is asked of a child takes. */
const PATIENCE_MS = 600_000;

/** How children find Fencepost: as it is built for production, or, without a build, its source. */
export type Code = 'built' | 'source';

const FLAGS: Record<Code, string[]> = {
  built: [],
  source: ['--conditions=@fencepost/source', '--import', 'tsx'],
};

/** @param system its name @param url of its store */
export async function startChild<Role extends keyof ChildCalls>(
  role: Role,
  { system, url, code }: { system: string; url: string; code: Code },
): Promise<Child<Role>> {
  const file = fileURLToPath(new URL(`./${role}.ts`, import.meta.url));
  const process_ = fork(file, [system, url], {
    cwd: repositoryRoot,
    execArgv: [...FLAGS[code], ...(role === 'worker' ? (findContestant(system)?.nodeOptions ?? []) : [])],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const kill = () => process_.kill('SIGKILL');
  process.once('exit', kill);

  const open = new Map<number, (answer: Answer) => void>();
  const listeners: ((event: ChildEvent) => void)[] = [];
  const ended = new Promise<never>((_, reject) => {
    process_.once('error', reject);
    process_.once('exit', (exitCode, signal) =>
      reject(new Error(`the ${role} of ${system} ended with ${signal ?? exitCode}`)),
    );
  });
  ended.catch(() => {});
  const ready = new Promise<void>((resolve) => {
    listeners.push(({ event }) => event === 'ready' && resolve());
  });
  process_.on('message', (message: Answer | ChildEvent) => {
    if ('event' in message) for (const listener of listeners) listener(message);
    else open.get(message.id)?.(message);
  });
  await Promise.race([ready, ended]);

  let asked = 0;
  return {
    async call(name, argument) {
      const id = asked++;
      const answered = new Promise<Answer>((resolve) => open.set(id, resolve));
      process_.send({ id, name, argument } satisfies Question);
      const { answer, error } = await Promise.race([answered, ended, outOfPatience(role, system, name)]);
      open.delete(id);
      if (error !== undefined) throw new Error(`${system}, ${name}: ${error}`);
      return answer;
    },
    on: (listener) => void listeners.push(listener),
    async end() {
      process.off('exit', kill);
      await endProcess(process_);
    },
  };
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function outOfPatience(role: string, system: string, name: string): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new Error(`the ${role} of ${system} did not answer "${name}"`));
    setTimeout(fail, PATIENCE_MS).unref();
  });
}
