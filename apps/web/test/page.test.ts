import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from './harness.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

test('the page runs its own script and nothing else', async () => {
  const { status, headers, text } = await app.get('/');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toContain('text/html');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');

  const script = /<script>([^]*?)<\/script>/.exec(text)?.[1] ?? '';
  expect(() => new Script(script)).not.toThrow();
  for (const tag of ['script', 'style']) {
    const content = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text)?.[1] ?? '';
    expect(content).not.toBe('');
    const hash = createHash('sha256').update(content).digest('base64');
    expect(policy).toContain(`${tag}-src 'sha256-${hash}'`);
  }
  expect(text).not.toMatch(/ on[a-z]+=|innerHTML|insertAdjacentHTML/);
});
