/** What has to be undone when a test or a test file is over, last first. The vitest setup file calls the two runners. */

type Cleanup = () => Promise<void> | void;

const ofFile: Cleanup[] = [];
const ofTest: Cleanup[] = [];
let testIsRunning = false;

export function atEndOfFile(cleanup: Cleanup): void {
  ofFile.push(cleanup);
}

/** At the end of the test that is running; of the file, when it was started in a `beforeAll`. */
export function atEndOfTest(cleanup: Cleanup): void {
  (testIsRunning ? ofTest : ofFile).push(cleanup);
}

export function testStarted(): void {
  testIsRunning = true;
}

export async function testEnded(): Promise<void> {
  testIsRunning = false;
  await runAll(ofTest);
}

export async function fileEnded(): Promise<void> {
  await runAll(ofFile);
}

async function runAll(cleanups: Cleanup[]): Promise<void> {
  for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) await cleanup();
}
