/** What the doctor finds, good and bad, on real folders and real databases. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { useApp } from '../../test/support/app.ts';
import { readConfig } from '../kernel/config.ts';
import { openDataFolder } from '../platform/db/data-folder.ts';
import { examine } from './doctor.ts';

const app = useApp();
let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ashlar-doctor-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function visit(environment: Record<string, string>): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const code = await examine(readConfig({ ASHLAR_DATA: folder, ...environment }), (line) => lines.push(line));
  return { code, text: lines.join('\n') };
}

test('nothing is wrong before the first start, and with a server that answers', async () => {
  const found = await visit({ ASHLAR_URL: app.url });
  expect(found.text).toContain('writable, and no process holds it');
  expect(found.text).toContain('embedded; the first start makes it');
  expect(found.text).toContain(`${app.url} keeps encoded slashes`);
  expect(found.text).toMatch(/ok +storage default .*repositories: made with its first repository/);
  expect(found.code).toBe(0);
});

test("a running server's database is asked, and is wrong when a crash would lose what it saved", async () => {
  const held = await openDataFolder(folder);
  const { host, password } = inject('postgres');
  writeFileSync(join(folder, 'postgres-run'), host);
  writeFileSync(join(folder, 'postgres-password'), password);
  const found = await visit({ ASHLAR_URL: app.url }).finally(held.close);
  expect(found.text).toContain(`writable, in use by process ${process.pid}`);
  expect(found.text).toContain('pg_trgm is there');
  // The tests' server runs so, for speed.
  expect(found.text).toMatch(/WRONG +durability +fsync, full_page_writes, synchronous_commit off/);
  expect(found.code).toBe(1);
});

test('a folder that cannot be made, and a database that does not answer', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const found = await visit({
    ASHLAR_STORAGES: `default:${folder},fast:${file}`,
    ASHLAR_DATA: join(file, 'below'),
    DATABASE_URL: 'postgres://nobody:hush@127.0.0.1:1/none',
    ASHLAR_OBJECT_STORE: 'http://key:hush@127.0.0.1:2/bucket',
  });
  expect(found.text).toMatch(/WRONG +data folder/);
  expect(found.text).toMatch(/ok +storage default +\S+: writable/);
  expect(found.text).toMatch(/WRONG +storage fast +\S+: is no folder/);
  expect(found.text).toMatch(/WRONG +database +does not answer/);
  expect(found.text).toMatch(/WRONG +object store +127\.0\.0\.1:2\/bucket: connect ECONNREFUSED/);
  expect(found.text).not.toContain('hush');
  expect(found.code).toBe(1);
});
