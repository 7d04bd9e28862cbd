import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { endOn } from '../src/index.ts';

/** A process as far as endings are concerned: it would not do to end the test's own. */
class Process extends EventEmitter {
  readonly exited: Promise<number>;
  exit: (code: number) => void = () => {};

  constructor() {
    super();
    this.exited = new Promise((resolve) => {
      this.exit = resolve;
    });
  }
}

function start(stop: () => Promise<void> = async () => {}) {
  const log: { msg: string; level: number }[] = [];
  const process = new Process();
  const calls = { stop: 0, hurry: 0 };
  const logger = pino({}, { write: (line) => log.push(JSON.parse(line) as { msg: string; level: number }) });
  const end = endOn(process as unknown as NodeJS.Process, {
    logger,
    stop() {
      calls.stop++;
      return stop();
    },
    hurry() {
      calls.hurry++;
    },
  });
  return { process, calls, end, messages: () => log.map(({ msg }) => msg), log };
}

test.each(['SIGTERM', 'SIGINT'])('%s stops, and ends with 0', async (signal) => {
  const { process, calls, messages } = start();
  process.emit(signal);
  expect(await process.exited).toBe(0);
  expect(calls).toEqual({ stop: 1, hurry: 0 });
  expect(messages()).toEqual(['signal received']);
});

test('a second signal hurries, whichever it is, and stops nothing twice', async () => {
  let stopped = () => {};
  const { process, calls, messages } = start(() => new Promise((resolve) => (stopped = resolve)));
  process.emit('SIGTERM');
  process.emit('SIGINT');
  process.emit('SIGTERM');
  expect(calls).toEqual({ stop: 1, hurry: 2 });
  stopped();
  expect(await process.exited).toBe(0);
  expect(messages()).toEqual([
    'signal received',
    'second signal, no more waiting',
    'second signal, no more waiting',
  ]);
});

test.each(['unhandledRejection', 'uncaughtException'])(
  '%s is fatal: it stops, and ends with 1',
  async (event) => {
    const { process, calls, log } = start();
    process.emit(event, new Error('nobody thought of this'));
    expect(await process.exited).toBe(1);
    expect(calls.stop).toBe(1);
    expect(log).toMatchObject([{ level: 60, err: { message: 'nobody thought of this' } }]);
  },
);

test('what goes wrong while it stops makes the code 1, and is told', async () => {
  const failing = start(async () => {
    throw new Error('no way out');
  });
  failing.process.emit('SIGTERM');
  expect(await failing.process.exited).toBe(1);
  expect(failing.messages()).toEqual(['signal received', 'stopping failed']);

  let stopped = () => {};
  const late = start(() => new Promise((resolve) => (stopped = resolve)));
  late.process.emit('SIGTERM');
  late.process.emit('unhandledRejection', new Error('late'));
  stopped();
  expect(await late.process.exited).toBe(1);
});

test('it ends for another reason with its code, and no signal makes that a 0', async () => {
  let stopped = () => {};
  const { process, calls, end } = start(() => new Promise((resolve) => (stopped = resolve)));
  end(3);
  process.emit('SIGTERM');
  stopped();
  expect(await process.exited).toBe(3);
  expect(calls).toEqual({ stop: 1, hurry: 1 });
});
