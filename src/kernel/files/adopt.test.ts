/** Files that an earlier version kept in folders of their own. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { beforeMigration } from '../../../test/support/migrations.ts';
import { blobPath } from '../../platform/blobs/blob-files.ts';
import { digest } from '../../platform/secret.ts';
import { adoptFiles } from './adopt-actions.ts';

const data = mkdtempSync(join(tmpdir(), 'ashlar-adopt-'));
afterAll(() => rmSync(data, { recursive: true }));

function write(path: string, content: string): void {
  mkdirSync(dirname(join(data, path)), { recursive: true });
  writeFileSync(join(data, path), content);
}

/** Nothing is to be told. */
const fail = (line: string): void => expect.unreachable(line);
const hex = (text: string): string => digest(text).toString('hex');
const blob = (text: string): string => readFileSync(blobPath(join(data, 'blobs'), hex(text)), 'utf8');
const stored = (folder: string, secret: string): string => `${folder}/${secret.slice(0, 2)}/${secret}`;

test('files of before are blobs, which their rows name; what was cut off goes on at the next start', () =>
  beforeMigration('0074', async (sql, upgrade) => {
    const [one, two, again] = ['1'.repeat(32), '2'.repeat(32), '3'.repeat(32)];
    await sql`set session_replication_role = replica`;
    await sql.unsafe(`
      insert into topics (name, title, avatar, created_at, updated_at)
        values ('stone', 'Stone', '${hex('picture')}.png/me.png', now(), now());
      insert into uploads (project_id, uploader_id, secret, filename, size, created_at)
        values (1, 1, '${one}', 'a.txt', 6, now()), (1, 1, '${again}', 'b.txt', 6, now()), (1, 1, '${'4'.repeat(32)}', 'gone', 1, now());
      insert into ci_artifacts (job_id, project_id, file_type, file_format, secret, filename, size, sha256, created_at)
        values (1, 1, 'archive', 'zip', '${two}', 'a.zip', 7, sha256('archive'), now());
      insert into secure_files (project_id, name, secret, size, sha256, created_at)
        values (1, 'key', '${two}', 3, sha256('key'), now())`);
    write(stored('uploads/files', one), 'upload');
    write(stored('uploads/files', again), 'upload');
    write(stored('ci/artifacts', two), 'archive');
    write('ci/artifacts/22/.half', 'of one that was cut off');
    write(stored('ci/secure-files', two), 'key');
    write(stored('uploads', `${hex('picture')}.png`), 'picture');
    write('ci/traces/1/1.log', 'a trace');

    await upgrade();
    // The one that was moved before the process died; its row was not written.
    mkdirSync(join(data, 'blobs', hex('upload').slice(0, 2)), { recursive: true });
    writeFileSync(blobPath(join(data, 'blobs'), hex('upload')), 'upload');
    await adoptFiles(sql, { data, files: data }, fail);

    for (const text of ['upload', 'archive', 'key', 'picture']) expect(blob(text)).toBe(text);
    expect(await sql`select secret, encode(sha256, 'hex') as sha256 from uploads order by id`).toEqual([
      { secret: one, sha256: hex('upload') },
      { secret: again, sha256: hex('upload') },
      { secret: '4'.repeat(32), sha256: null },
    ]);
    expect(await sql`select encode(avatar_blob, 'hex') as picture from topics`).toEqual([
      { picture: hex('picture') },
    ]);
    expect((await sql`select from blobs`).length).toBe(4);
    expect([existsSync(join(data, 'uploads')), readdirSync(join(data, 'ci'))]).toEqual([false, ['traces']]);
    await adoptFiles(sql, { data, files: data }, fail);
    expect((await sql`select from blobs`).length).toBe(4);
  }));

test('files that were moved to the folder of all processes are found there', () =>
  beforeMigration('0074', async (sql, upgrade) => {
    await sql`set session_replication_role = replica`;
    await sql.unsafe(`
      insert into ci_artifacts (job_id, project_id, file_type, file_format, secret, filename, size, sha256, created_at)
        values (1, 1, 'archive', 'zip', '${'5'.repeat(32)}', 'a.zip', 4, sha256('moved'), now())`);
    const files = mkdtempSync(join(tmpdir(), 'ashlar-adopt-'));
    try {
      const path = join(files, stored('ci/artifacts', '5'.repeat(32)));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'moved');
      await upgrade();
      await adoptFiles(sql, { data, files }, fail);
      expect(readFileSync(blobPath(join(files, 'blobs'), hex('moved')), 'utf8')).toBe('moved');
      expect(existsSync(path)).toBe(false);
    } finally {
      rmSync(files, { recursive: true });
    }
  }));

test('files come from another file system, and what cannot be read stays', () =>
  beforeMigration('0074', async (sql, upgrade) => {
    const [one, two] = ['1'.repeat(32), '2'.repeat(32)];
    await sql`set session_replication_role = replica`;
    await sql.unsafe(`
      insert into uploads (project_id, uploader_id, secret, filename, size, created_at)
        values (1, 1, '${one}', 'a.txt', 3, now()), (1, 1, '${two}', 'b.txt', 3, now())`);
    await upgrade();
    const other = mkdtempSync('/dev/shm/ashlar-adopt-');
    try {
      symlinkSync(other, join(data, 'uploads'));
      write(stored('uploads/files', one), 'far');
      // No file can be read that is a folder.
      mkdirSync(join(data, stored('uploads/files', two)), { recursive: true });
      const told: string[] = [];
      await adoptFiles(sql, { data, files: data }, (line) => told.push(line));
      expect(told).toEqual([
        expect.stringContaining(`${join(data, stored('uploads/files', two))} cannot be read`),
      ]);
      expect(blob('far')).toBe('far');
      expect(readdirSync(join(data, 'blobs', 'drafts'))).toEqual([]);
      expect(await sql`select encode(sha256, 'hex') as sha256 from uploads order by id`).toEqual([
        { sha256: hex('far') },
        { sha256: null },
      ]);
      expect(existsSync(join(data, stored('uploads/files', one)))).toBe(false);
    } finally {
      rmSync(other, { recursive: true });
    }
  }));
