/** The child's end of the line to the bench. */
import type { Answer, ChildEvent, Question } from './calls.ts';

type Calls = Record<string, { argument: unknown; answer: unknown }>;
type Server<Served> = {
  [Name in keyof Served]: Served[Name] extends Calls[string]
    ? (argument: Served[Name]['argument']) => Promise<Served[Name]['answer']>
    : never;
};

/** Answers until the bench hangs up, which ends this process. */
export function serve<Served>(calls: Server<Served>): void {
  const answer = async ({ id, name, argument }: Question): Promise<Answer> => {
    try {
      const call = calls[name as keyof Served] as (argument: unknown) => Promise<unknown>;
      return { id, answer: await call(argument) };
    } catch (error) {
      return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  };
  process.on('message', (question: Question) => void answer(question).then(send));
  process.on('disconnect', () => process.exit());
  tell({ event: 'ready' });
}

export function tell(event: ChildEvent): void {
  send(event);
}

function send(message: Answer | ChildEvent): void {
  process.send?.(message);
}
