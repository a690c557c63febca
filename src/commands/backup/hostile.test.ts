/** Files that are no backup, or not a whole one: refused in words, before anything is written. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { backUpApp, folderFor, listening, makePlace } from '../../../test/support/backups.ts';
import { bodyOf, makeProject } from '../../../test/support/factories.ts';
import { migrationsFolder } from '../../instance.ts';
import { packageFolder } from '../../package.ts';
import { tarEnd, tarHead, tarMembers, tarTail } from '../../platform/archives/tar.ts';
import { migrate } from '../../platform/db/migrations.ts';
import { schemaSnapshot } from '../../platform/db/snapshot.ts';
import { digest } from '../../platform/secret.ts';
import { BadBackup, type Header, manifestLine } from './format.ts';
import { verifyBackup } from './verify.ts';

const t = useApp();
const folder = folderFor('hostile');
const good = join(folder, 'good.backup');
type Entry = { name: string; content: Buffer };
let entries: Entry[] = [];
let header: Header;

beforeAll(async () => {
  const { id } = await makeProject(t);
  bodyOf(
    await t.root(`POST /projects/${id}/repository/commits`, {
      body: {
        branch: 'main',
        commit_message: 'First',
        actions: [{ action: 'create', file_path: 'a', content: 'a' }],
      },
    }),
    201,
  );
  await backUpApp(t, good);
  const unpacked = zstdDecompressSync(readFileSync(good));
  const pieces = (async function* () {
    yield unpacked;
  })();
  for await (const member of tarMembers(pieces, Number.MAX_SAFE_INTEGER))
    entries.push({ name: member.name, content: Buffer.from(await member.read()) });
  entries = entries.filter(({ name }) => !/^(manifest\/|end\.json)/.test(name));
  header = JSON.parse(entries[0]?.content.toString() ?? '');
});

const write = (name: string, bytes: Buffer): string => {
  const file = join(folder, `${name.replace(/\W+/g, '-')}.backup`);
  writeFileSync(file, bytes);
  return file;
};

const packed = (parts: readonly Buffer[]): Buffer => zstdCompressSync(Buffer.concat(parts));
const member = ({ name, content }: Entry, kind = '0'): Buffer => {
  const head = tarHead(name, content.length, new Date(0));
  if (kind !== '0') {
    head.write(kind, 156, 'latin1');
    head.fill(' ', 148, 156);
    head.write(
      `${head
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
      'latin1',
    );
  }
  return Buffer.concat([head, content, tarTail(content.length)]);
};
const text = (name: string, content: string): Entry => ({ name, content: Buffer.from(content) });

/** A file with a manifest that is right for these entries: what somebody would write who knows the format. */
function sealed(all: readonly Entry[], lines = ''): Buffer {
  const manifest = Buffer.from(
    all
      .map(({ name, content }) =>
        manifestLine({ name, size: content.length, sha256: digest(content).toString('hex') }),
      )
      .join('') + lines,
  );
  const bytes = all.reduce((sum, { content }) => sum + content.length, 0);
  const end = JSON.stringify({ entries: all.length, bytes, sha256: digest(manifest).toString('hex') });
  return packed([
    ...all.map((each) => member(each)),
    member({ name: 'manifest/000000', content: manifest }),
    member(text('end.json', end)),
    tarEnd(),
  ]);
}

const withHeader = (change: Record<string, unknown>): Entry[] => [
  text('header.json', JSON.stringify({ ...header, ...change })),
  ...entries.slice(1),
];
const verify = (file: string) => verifyBackup(file, { identity: undefined }, listening());

/** Refused by a restore, which leaves nothing. */
async function refused(file: string, problem: RegExp): Promise<void> {
  await expect(verify(file)).rejects.toThrow(problem);
  const place = await makePlace();
  try {
    const failure = place.restore(file);
    await expect(failure).rejects.toThrow(problem);
    await expect(failure).rejects.toBeInstanceOf(BadBackup);
    expect(existsSync(place.config.data)).toBe(false);
    expect(await place.sql`select from pg_class where relnamespace = 'public'::regnamespace`).toEqual([]);
  } finally {
    await place.remove();
  }
}

test('what is made here as a backup is made is taken', async () => {
  await expect(verify(write('made', sealed(entries)))).resolves.toMatchObject({
    end: { entries: entries.length },
  });
});

const foreign: [string, () => Buffer, RegExp][] = [
  ['nothing', () => Buffer.alloc(0), /ends before its end, or is no backup|cannot be decompressed/],
  ['text', () => Buffer.from('select 1;\n'.repeat(1_000)), /cannot be decompressed/],
  ['another compression', () => gzipSync(zstdDecompressSync(readFileSync(good))), /cannot be decompressed/],
  ['compressed text', () => packed([Buffer.from('x'.repeat(5_000))]), /is no backup/],
  ['an empty tar file', () => packed([tarEnd()]), /has no end/],
  ['another tar file', () => packed([member(text('etc/passwd', 'x')), tarEnd()]), /entry that no backup has/],
  ['entries before the header', () => sealed(entries.slice(1)), /has no header/],
  ['an old age file', () => Buffer.from('age-encryption.org/v1\n-> X25519 x\n'), /is encrypted/],
];

test.each(foreign)('%s is refused', async (name, bytes, problem) => {
  await refused(write(name, bytes()), problem);
});

test('a folder, and a file that is not there, are refused', async () => {
  await refused(folder, /cannot be read/);
  await refused(join(folder, 'none.backup'), /cannot be read/);
});

test.each([
  '../../etc/cron.d/x',
  '/etc/passwd',
  'repositories/1/objects/pack/../../../../x',
  'repositories/1/objects/pack/pack-1234.pack',
  'repositories/1/hooks/post-receive',
  'repositories/1/config',
  'repositories/../1/HEAD',
  'blobs/..',
  'tables/../000000',
  'tables/pg_catalog.pg_class/000000',
  'traces/../../x',
  'secret-key2',
  'blobs/aa\0bb',
])('the name %j is refused', async (name) => {
  await refused(write(`name ${name}`, sealed([...entries, text(name, 'x')])), /no backup has|out of order/);
});

test.each(['1', '2', '3', '4', '5', '6'])(
  'a link, a device or a folder (tar kind %s) is refused',
  async (kind) => {
    const link = member(text('blobs/x', ''), kind);
    const first = entries[0];
    await refused(
      write(`kind ${kind}`, packed([...(first ? [member(first)] : []), link, tarEnd()])),
      /has a link or a folder/,
    );
  },
);

const wrongHeaders: [string, () => Record<string, unknown>, RegExp][] = [
  ['a later format', () => ({ format: 2 }), /format 2, which a later version/],
  ['no format', () => ({ format: 'x' }), /header has no format/],
  [
    'an unknown migration',
    () => ({ migrations: [...header.migrations, { name: '9999_x', digest: '' }] }),
    /9999_x is not known here/,
  ],
  [
    'a changed migration',
    () => ({ migrations: header.migrations.map((each) => ({ ...each, digest: 'x' })) }),
    /is not the one of this program/,
  ],
  [
    'a name of a table that is code',
    () => ({ tables: [{ name: 'x"; drop table users; --', columns: ['id'] }] }),
    /header is damaged/,
  ],
  [
    'a name of a column that is code',
    () => ({ tables: [{ name: 'users', columns: ['id) from program $$x$$'] }] }),
    /header is damaged/,
  ],
  [
    'a value of a sequence that is code',
    () => ({ sequences: [{ name: 'x', value: '1); drop', called: true }] }),
    /header is damaged/,
  ],
  ['a base elsewhere', () => ({ base: { id: header.id, name: '../other' } }), /header is damaged/],
  ['no tables', () => ({ tables: 7 }), /header is damaged/],
];

test.each(wrongHeaders)('a header with %s is refused', async (name, change, problem) => {
  await refused(write(`header ${name}`, sealed(withHeader(change()))), problem);
});

test('entries that are missing, twice, in another order, or other than the manifest says are refused', async () => {
  const [first, second, third, ...rest] = entries;
  if (!first || !second || !third) throw new Error('too few entries');
  const whole = sealed(entries);
  const unpacked = zstdDecompressSync(whole);
  await refused(write('twice', sealed([first, second, second, third, ...rest])), /out of order, or twice/);
  await refused(write('order', sealed([first, third, second, ...rest])), /out of order, or twice/);
  const lacking = Buffer.concat([
    ...[first, second, ...rest].map((each) => member(each)),
    unpacked.subarray(unpacked.indexOf('manifest/000000')),
  ]);
  await refused(write('missing', zstdCompressSync(lacking)), /not those that its manifest has/);
  const changed = Buffer.from(unpacked);
  changed.write('HEAD', unpacked.indexOf('ref: refs/heads/main'));
  await refused(write('changed', zstdCompressSync(changed)), /not those that its manifest has|is damaged/);
  await refused(
    write('borrowed', sealed(entries, `base ${'0'.repeat(64)} 3 blobs/${'f'.repeat(64)}\n`)),
    /names no base/,
  );
  await refused(
    write('borrowed table', sealed(entries, `base ${'0'.repeat(64)} 3 tables/users/000009\n`)),
    /borrows rows after its files/,
  );
  await refused(
    write('borrowed refs', sealed(entries, `base ${'0'.repeat(64)} 3 repositories/1/refs\n`)),
    /manifest is damaged/,
  );
});

test('a backup that is cut off anywhere is refused', async () => {
  const bytes = readFileSync(good);
  for (let at = 1; at < bytes.length; at += Math.ceil(bytes.length / 40))
    await expect(verify(write('cut', bytes.subarray(0, at)))).rejects.toBeInstanceOf(BadBackup);
  await refused(
    write('cut', bytes.subarray(0, bytes.length >> 1)),
    /ends before its end|cannot be decompressed/,
  );
});

test('a backup in which a byte changed is refused, or has the same entries', async () => {
  const bytes = readFileSync(good);
  let found = 0;
  for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 60)) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x41;
    const outcome = await verify(write('byte', changed)).then(
      ({ end }) => end.sha256,
      (error: unknown) => error,
    );
    if (outcome instanceof BadBackup) found += 1;
    else expect(outcome).toBe((await verify(good)).end.sha256);
  }
  expect(found).toBeGreaterThan(50);
});

test('one that unpacks to very much is read in little memory', async () => {
  const [first] = entries;
  if (!first) throw new Error('too few entries');
  const zeros = Buffer.alloc(64 * 1_048_576);
  const size = 40 * zeros.length;
  const file = write('bomb', packed([member(first), tarHead('jobs/000000', size, new Date(0)), zeros]));
  await expect(verify(file)).rejects.toThrow(/ends before its end/);
  const held = write('held', packed([member(first), tarHead('secret-key', 8 ** 10, new Date(0)), zeros]));
  await expect(verify(held)).rejects.toThrow(/secret-key is too large/);
});

test('rows that no table takes leave nothing but what is said of the database', async () => {
  const place = await makePlace();
  const at = entries.findIndex(({ name }) => name.startsWith('tables/application_settings/'));
  const wrong = entries.map((each, index) => (index === at ? text(each.name, 'x\ty\tz\n') : each));
  await expect(place.restore(write('rows', sealed(wrong)))).rejects.toThrow(
    /make an empty one for the next restore/,
  );
  expect(existsSync(join(place.config.data, 'secret-key'))).toBe(false);
  // As a server does when it starts.
  await expect(migrate(place.sql, migrationsFolder)).rejects.toThrow(
    /restore into this database was interrupted/,
  );
  await place.remove();
});

test('a repository with a million refs is read', async () => {
  const at = entries.findIndex(({ name }) => /^repositories\/\d+\/refs$/.test(name));
  const line = `${'a'.repeat(40)} refs/heads/branch\n`;
  const many = entries.map((each, index) => (index === at ? text(each.name, line.repeat(1_000_000)) : each));
  await expect(verify(write('refs', sealed(many)))).resolves.toMatchObject({ hasKey: false });
  const wrong = entries.map((each, index) => (index === at ? text(each.name, `${line}x`) : each));
  await refused(write('wrong refs', sealed(wrong)), /refs is damaged/);
});

test('a backup of a program that lacks migrations, the last or one before it, is brought up to date', async () => {
  const lists = '0094_feature_flag_user_lists';
  const lacking = {
    migrations: header.migrations.filter(({ name }) => name !== lists),
    tables: header.tables
      .filter(({ name }) => name !== 'feature_flag_user_lists')
      .map((each) => ({
        ...each,
        columns: each.columns.filter((column) => column !== 'feature_flag_user_lists'),
      })),
    sequences: header.sequences.filter(({ name }) => !name.startsWith('feature_flag_user_lists')),
  };
  // The column is the last of its table.
  const older = withHeader(lacking).map((each) =>
    each.name.startsWith('tables/project_counters/')
      ? text(each.name, each.content.toString().replace(/\t[^\t\n]*\n/g, '\n'))
      : each,
  );
  expect(header.tables.find(({ name }) => name === 'project_counters')?.columns.at(-1)).toBe(
    'feature_flag_user_lists',
  );
  const place = await makePlace();
  try {
    expect(await place.restore(write('older', sealed(older)))).toEqual([]);
    expect(await schemaSnapshot(place.sql)).toBe(readFileSync(join(packageFolder, 'schema.sql'), 'utf8'));
    const rows = await place.sql<{ name: string }[]>`select name from migrations order by name`;
    expect(rows.map(({ name }) => name)).toEqual(header.migrations.map(({ name }) => name));
  } finally {
    await place.remove();
  }
});
