import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from './harness.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

async function write(chunks: string[]): Promise<string> {
  const { id } = (await app.post('/api/reports')).body;
  await app.prisma.reportChunk.createMany({
    data: chunks.map((content, index) => ({ reportId: id, index, content })),
  });
  await app.prisma.report.update({ where: { id }, data: { rows: 2, completedAt: new Date() } });
  return id;
}

describe('a report', () => {
  test('is asked for with its job in one transaction', async () => {
    const { status, headers, body } = await app.post('/api/reports');
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/api/reports/${body.id}`);
    expect((await app.get(`/api/jobs/${body.jobId}`)).body).toMatchObject({
      type: 'report.deliveries',
      payload: { reportId: body.id },
      state: 'pending',
    });
    expect((await app.get(`/api/reports/${body.id}`)).body).toEqual({
      id: body.id,
      jobId: body.jobId,
      rows: 0,
      completedAt: null,
      createdAt: expect.any(String),
      job: { id: body.jobId, state: 'pending', attempts: 0, maxAttempts: 5, progress: null },
    });
  });

  test('that cannot be made leaves no job', async () => {
    const before = await app.prisma.jobQueue.count();
    await app.prisma.$executeRaw`
      ALTER TABLE "report"
      ADD CONSTRAINT "none_today" CHECK ("rows" < 0) NOT VALID`;
    expect((await app.post('/api/reports')).status).toBe(500);
    await app.prisma.$executeRaw`
      ALTER TABLE "report"
      DROP CONSTRAINT "none_today"`;
    expect(await app.prisma.jobQueue.count()).toBe(before);
  });

  test('is no file before it is finished', async () => {
    const { id } = (await app.post('/api/reports')).body;
    expect(await app.get(`/api/reports/${id}.csv`)).toMatchObject({
      status: 409,
      body: { code: 'NOT_FINISHED' },
    });
  });

  test('streams its chunks in order', async () => {
    const id = await write(['a,b\r\n', '1,"ü"\r\n', '2,🦀\r\n']);
    const { status, headers, text } = await app.get(`/api/reports/${id}.csv`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="deliveries-${id}.csv"`);
    expect(text).toBe('a,b\r\n1,"ü"\r\n2,🦀\r\n');
  });

  test('with a hole in it is broken off, not cut short', async () => {
    const id = await write(['a\r\n', 'b\r\n', 'c\r\n']);
    await app.prisma.reportChunk.update({
      where: { reportId_index: { reportId: id, index: 1 } },
      data: { index: 9 },
    });
    await expect(app.get(`/api/reports/${id}.csv`)).rejects.toThrow('No record was found');
  });

  test.each(['00000000-0000-7000-8000-000000000000', 'x', '..%2F..%2Fetc'])(
    '%s does not exist',
    async (id) => {
      expect((await app.get(`/api/reports/${id}`)).status).toBe(404);
      expect((await app.get(`/api/reports/${id}.csv`)).status).toBe(404);
    },
  );
});
