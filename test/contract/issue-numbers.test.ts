/** Numbers of issues: two programs that make issues of one project at once leave none out and give none twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type App, createApp } from '../../src/app.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { createLog } from '../../src/platform/log.ts';
import { ROOT_TOKEN, SECRET_KEY, useApp } from '../support/app.ts';
import { makeProject } from '../support/factories.ts';

const ISSUES = 1_000;
const AT_ONCE = 8;

const one = useApp();
let second: App;
let other = '';
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ashlar-numbers-'));
  const [found] = await one.app.services.database.sql<{ name: string }[]>`select current_database() as name`;
  second = createApp({
    config: readConfig({ ASHLAR_DATA: folder, ASHLAR_PORT: '0' }),
    target: { ...inject('postgres'), database: found?.name ?? '' },
    secretKey: SECRET_KEY,
    log: createLog(() => {}),
  });
  other = await second.start();
  const body = { issues_create_limit: 0 };
  const changed = await one.root('PUT /application/settings', { body });
  expect(changed.status).toBe(200);
});

afterAll(async () => {
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The status and number of a new issue, or of the refusal. */
async function create(
  url: string,
  projectId: number,
  issue: { title: string; iid?: number },
): Promise<{ status: number; iid: number }> {
  const response = await fetch(`${url}/api/v4/projects/${projectId}/issues`, {
    method: 'POST',
    headers: { 'private-token': ROOT_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify(issue),
  });
  const { iid } = (await response.json()) as { iid: number };
  return { status: response.status, iid };
}

test('1,000 issues made by two at once are numbered 1 to 1,000, though some are refused in between', async () => {
  const project = await makeProject(one);
  const iids = [(await create(one.url, project.id, { title: 'First' })).iid];
  let left = ISSUES - 1;
  let refusals = 0;
  const worker = async (url: string) => {
    while (left > 0) {
      left -= 1;
      if (left % 50 === 0) {
        refusals += 1;
        // Fails in the very statement that takes the number.
        expect((await create(url, project.id, { title: 'taken', iid: 1 })).status).toBe(409);
      }
      const { status, iid } = await create(url, project.id, { title: `Issue ${left}` });
      expect(status).toBe(201);
      iids.push(iid);
    }
  };
  const urls = Array.from({ length: AT_ONCE }, (_, n) => (n % 2 === 0 ? one.url : other));
  await Promise.all(urls.map(worker));
  expect(refusals).toBe(ISSUES / 50);
  expect(iids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: ISSUES }, (_, n) => n + 1));
});

test('numbers that are taken already are refused, and use none up', async () => {
  const project = await makeProject(one);
  const given = (iid: number | undefined) =>
    one.root(`POST /projects/${project.id}/issues`, { body: { title: 'One', iid } });
  expect((await given(1)).body.iid).toBe(1);
  const same = await Promise.all(Array.from({ length: 6 }, () => given(2)));
  expect(same.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
  expect((await given(undefined)).body.iid).toBe(3);
});
