/** A page of another origin that reports its errors by @sentry/browser, in Chromium. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { expectGoodPage, signIn, useBrowser, type Visitor } from './browser.ts';
import { makeReportedTo, type ReportedTo, reportedTo } from './error-reports.ts';
import { ROOT_PASSWORD, startProgram } from './support.ts';

const journey = useBrowser();

const page = `<!doctype html><title>Gates</title><link rel="icon" href="data:,">
<button id="open">Open</button><button id="crack">Crack</button><script src="/page.js"></script>`;
let origin = '';
let script = '';
const server = createServer((request, response) => {
  const isScript = request.url === '/page.js';
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
  response.end(isScript ? script : page);
});

beforeAll(async () => {
  const input = join(import.meta.dirname, 'sentry-page.ts');
  const bundled = await rolldown({ input, platform: 'browser' });
  const { output } = await bundled.generate({ format: 'iife' });
  await bundled.close();
  script = output[0].code;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  origin = `http://127.0.0.1:${address.port}`;
});
afterAll(() => server.close());

/** Opens the page, and notes the responses to its reports of errors; it reports its sessions too. */
async function openPage(project: Pick<ReportedTo, 'dsn'>): Promise<Visitor & { answers: number[] }> {
  const visitor = await journey.visit();
  const responses: number[] = [];
  visitor.context.on('response', (response) => {
    if (response.request().postData()?.includes('"type":"event"')) responses.push(response.status());
  });
  await visitor.page.goto(`${origin}/?dsn=${encodeURIComponent(project.dsn)}`);
  return { ...visitor, answers: responses };
}

/** The browser's complaints since the last call, which the test expects. */
const forgive = ({ complaints }: Visitor): string => complaints.splice(0).join('\n');

test('what a page throws arrives from another origin, and is read on its page', async () => {
  const project = await makeReportedTo(journey.program, 'gates');
  const visitor = await openPage(project);
  await visitor.page.click('#open');
  const [error, ...others] = await project.errors(1);
  expect(others).toEqual([]);
  expect(error).toMatchObject({ name: 'TypeError', description: 'the gate north is stuck' });
  expect(forgive(visitor)).toMatch(/^TypeError: the gate north is stuck/);
  const { latest_event: event, ...shown } = await project.error(error?.id ?? 0);
  expect(shown).toMatchObject({ platform: 'javascript', users_count: 1 });
  expect(event).toMatchObject({
    release: 'page@3',
    environment: 'browser',
    user: { id: '8', ip_address: null },
    request: { url: expect.stringContaining(origin) },
    exceptions: [{ type: 'TypeError', handled: false }],
  });
  const frames: { function: string; filename: string; in_app: boolean }[] = event.exceptions[0].frames;
  expect(frames.at(-1)).toMatchObject({ function: 'openGate', filename: `${origin}/page.js`, in_app: true });

  const { page } = await journey.visit();
  await signIn(page, 'root', ROOT_PASSWORD);
  await page.goto(`${project.address}/-/error_tracking`);
  await expectGoodPage(page, 'Errors');
  await page.getByRole('link', { name: 'TypeError' }).click();
  await expectGoodPage(page, 'TypeError');
  await page.getByRole('img', { name: '1 event in this time' }).waitFor();
  await page.getByText('openGate').first().waitFor();
  await page.getByRole('link', { name: '30 days' }).click();
  await page.getByRole('img', { name: '1 event in this time' }).waitFor();
});

test('what happens while the server is down is reported when it is there again', async () => {
  const program = await startProgram();
  const { id, dsn } = await makeReportedTo(program, 'islands');
  const visitor = await openPage({ dsn });
  expect((await program.stop()).code).toBe(0);
  for (let count = 0; count < 3; count++) await visitor.page.click('#crack');
  const failed = () => visitor.complaints.filter((text) => /^not loaded: .*\/envelope\//.test(text)).length;
  await vi.waitFor(() => expect(failed()).toBeGreaterThanOrEqual(3), { timeout: 10_000 });
  expect(visitor.answers).toEqual([]);
  const { port } = new URL(program.url);
  const again = await startProgram({ data: program.data, env: { ASHLAR_PORT: port } });
  await visitor.page.click('#crack');
  const [error, ...others] = await reportedTo(again, id).errors(4);
  expect(others).toEqual([]);
  expect(error?.name).toBe('Error');
  forgive(visitor);
});

test('a page is told to wait, and does', async () => {
  const limit = async (events: number) =>
    expect(
      (await journey.program.root('PUT /application/settings', { error_tracking_events_per_minute: events }))
        .status,
    ).toBe(200);
  await limit(2);
  const project = await makeReportedTo(journey.program, 'bridges');
  const visitor = await openPage(project);
  for (let count = 0; count < 12; count++) {
    await visitor.page.click('#crack');
    await visitor.page.waitForTimeout(50);
  }
  const taken = visitor.answers.filter((status) => status === 200).length;
  // Twelve would have been sent; had the minute just ended, two more would have been taken.
  expect(visitor.answers.slice(0, taken + 1)).toContain(429);
  expect(taken).toBeGreaterThanOrEqual(2);
  expect(visitor.answers.length).toBeLessThanOrEqual(6);
  await project.errors(taken);
  expect(forgive(visitor)).toMatch(/^429 /);
  await limit(0);
});

test('a page may send its key in a header, which the browser asks about first', async () => {
  const project = await makeReportedTo(journey.program, 'paths');
  const visitor = await openPage(project);
  const dsn = new URL(project.dsn);
  const answered = await visitor.page.evaluate(
    async ({ address, key }) => {
      const headers = {
        'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${key}`,
        'content-type': 'application/json',
      };
      const body = JSON.stringify({ event_id: 'e'.repeat(32), message: 'a stone in the way' });
      const response = await fetch(address, { method: 'POST', headers, body });
      return [response.status, await response.text()];
    },
    { address: `${dsn.origin}/api/v4/error_tracking/collector/api/${project.id}/store/`, key: dsn.username },
  );
  expect(answered).toEqual([200, JSON.stringify({ id: 'e'.repeat(32) })]);
  expect(await project.errors(1)).toMatchObject([{ name: 'a stone in the way' }]);
});
