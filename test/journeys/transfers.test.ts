/** Projects and groups from one running instance to another by python-gitlab; and imports whose process is killed. */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { siteAt } from '../support/app.ts';
import { tarFile } from '../support/tar.ts';
import { sendArchive } from '../support/transfers.ts';
import { mustEnd, startPython } from './python.ts';
import {
  cleanUp,
  killNow,
  makeFolder,
  type Program,
  postmaster,
  ROOT_TOKEN,
  startProgram,
} from './support.ts';

afterAll(() => cleanUp());

const withoutLimits = {
  ...{ project_export_limit: 0, project_download_export_limit: 0, project_import_limit: 0 },
  ...{ group_export_limit: 0, group_download_export_limit: 0, group_import_limit: 0 },
};

async function start(data?: string): Promise<Program> {
  const program = await startProgram(data === undefined ? {} : { data });
  expect((await program.root('PUT /application/settings', withoutLimits)).status).toBe(200);
  return program;
}

test('python-gitlab moves a project and a group between two instances', async () => {
  const [source, target] = [await start(), await start()];
  const folder = makeFolder();
  copyFileSync(join(import.meta.dirname, 'transfers.py'), join(folder, 'transfers.py'));
  const output = await mustEnd(
    startPython(folder, ['transfers.py', source.url, ROOT_TOKEN, target.url, ROOT_TOKEN]),
  );
  const moved = JSON.parse(output.trim().split('\n').at(-1) ?? '');
  expect(moved).toMatchObject({
    description: 'Moved',
    issues: Array.from({ length: 30 }, (_, index) => `Issue ${index + 1}`),
    notes: [expect.stringMatching(/Note of 30$/)],
    labels: ['granite'],
    merge_requests: ['Topic'],
    readme: '# Stones\n',
    group: 'Stones',
    group_labels: ['granite'],
    subgroups: ['Pit'],
  });
  const [gzip] = readFileSync(join(folder, 'project.tar.gz'));
  expect(gzip).toBe(0x1f);
  await Promise.all([source.stop(), target.stop()]);
});

const ISSUES = 3_000;

/** An archive whose import takes a while. */
function largeArchive(): Buffer {
  const note = (number: number) => ({
    author_id: 1,
    note: `Note ${number}`,
    created_at: '2026-01-01T00:00:00Z',
  });
  const issues = Array.from({ length: ISSUES }, (_, index) =>
    JSON.stringify({
      iid: index + 1,
      title: `Issue ${index + 1}`,
      author_id: 1,
      notes: Array.from({ length: 5 }, (_, number) => note(number)),
    }),
  );
  return gzipSync(
    tarFile(
      { name: 'VERSION', content: '0.2.4' },
      { name: 'tree/project.json', content: '{}' },
      { name: 'tree/project/issues.ndjson', content: issues.join('\n') },
    ),
  );
}

test('an import whose process is killed shows nothing of itself, and is whole when the program is there again', async () => {
  let program = await start();
  const { data } = program;
  const sent = await sendArchive(
    siteAt(program.url, ROOT_TOKEN),
    '/projects/import',
    largeArchive(),
    { path: 'large' },
    ROOT_TOKEN,
  );
  expect(sent.status).toBe(201);
  const statusOf = async () =>
    ((await (await program.root(`GET /projects/${sent.body.id}/import`)).json()) as { import_status: string })
      .import_status;
  const count = async () =>
    Number((await program.root(`GET /projects/${sent.body.id}/issues?per_page=1`)).headers.get('x-total'));
  let kills = 0;
  for (const victims of [(it: Program) => [it.pid], (it: Program) => [postmaster(it.data), it.pid]]) {
    for (let looks = 0; (await statusOf()) !== 'started' && looks < 2_000; looks++) await sleep(5);
    await sleep(150);
    expect(await count()).toBe(0);
    for (const pid of victims(program)) killNow(pid);
    kills += 1;
    await program.ended;
    program = await startProgram({ data });
    expect([0, ISSUES]).toContain(await count());
  }
  expect(kills).toBe(2);
  for (let looks = 0; (await statusOf()) !== 'finished' && looks < 1_200; looks++) await sleep(100);
  expect(await statusOf()).toBe('finished');
  expect(await count()).toBe(ISSUES);
  await program.stop();
});
