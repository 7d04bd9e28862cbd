/** In every test file: ends the processes of each test, and drops the file's databases after the last hook. */
import { afterAll, afterEach, beforeEach } from 'vitest';
import { fileEnded, testEnded, testStarted } from '../cleanup.ts';

beforeEach(testStarted);
afterEach(testEnded);
afterAll(fileEnded);
