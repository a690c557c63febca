import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { moveClock } from '../clock.ts';
import { inTransaction } from '../db/database.ts';
import { digest } from '../secret.ts';
import { blobPath } from './blob-files.ts';
import { asBlob, type ObjectStore } from './blob-store.ts';
import { createBlobs } from './blobs.ts';

const ashlar = useApp({ still: true });

const services = () => ashlar.app.services;
const root = () => join(services().config.data, 'blobs');
const nameOf = (text: string) => digest(text).toString('hex');
const fileOf = (text: string) => join(root(), nameOf(text).slice(0, 2), nameOf(text));
const drafts = () => readdirSync(join(root(), 'drafts'));

/** Stores the text, and names it by a row; without the row if `fail`. */
async function keep(text: string, fail = false, blobs = services().blobs): Promise<void> {
  const draft = await blobs.draft();
  try {
    await draft.write(Buffer.from(text));
    const { sha256 } = await draft.finish();
    await inTransaction(services().database.db, async (tx) => {
      await draft.keep(tx);
      await sql`insert into named_blobs values (${sha256})`.execute(tx);
      if (fail) throw new Error('no row');
    });
  } finally {
    await draft.discard();
  }
}

async function forget(text: string, blobs = services().blobs): Promise<void> {
  await sql`delete from named_blobs where ctid in (
    select ctid from named_blobs where sha256 = ${digest(text)} limit 1)`.execute(services().database.db);
  await blobs.release([digest(text)]);
}

async function read(text: string, blobs = services().blobs): Promise<string | undefined> {
  const blob = await blobs.open(digest(text));
  return blob && Buffer.concat(await blob.stream().toArray()).toString();
}

const rows = async (text: string) =>
  (await sql`select from blobs where sha256 = ${digest(text)}`.execute(services().database.db)).rows.length;

const isOld = (file: string) => utimesSync(file, new Date(0), new Date(0));

beforeAll(async () => {
  await sql`create table named_blobs (sha256 bytea not null references blobs)`.execute(
    services().database.db,
  );
});

test('a blob is read, whole and in part, until the last row that names it is gone', async () => {
  await keep('granite');
  await keep('granite');
  expect(await read('granite')).toBe('granite');
  const blob = await services().blobs.open(digest('granite'));
  expect(blob?.size).toBe(7);
  expect(Buffer.concat((await blob?.stream({ start: 2, end: 4 }).toArray()) ?? []).toString()).toBe('ani');
  await forget('granite');
  expect(await read('granite')).toBe('granite');
  await forget('granite');
  expect(await read('granite')).toBeUndefined();
  expect(await rows('granite')).toBe(0);
  expect(drafts()).toEqual([]);
});

test('other digests are computed beside SHA-256', async () => {
  const draft = await services().blobs.draft(['md5', 'sha1']);
  await draft.write(Buffer.from('gra'));
  await draft.write(Buffer.from('nite'));
  const { digests, size } = await draft.finish();
  await draft.discard();
  expect(size).toBe(7);
  expect(digests.get('md5')?.toString('hex')).toBe('bf3d3410b2bc149332279c8da3643fe3');
  expect(digests.get('sha1')?.toString('hex')).toHaveLength(40);
});

test('what a draft leaves is kept by another request, or goes', async () => {
  const text = async (name: string) => {
    const left = await services().blobs.left(name, digest('gneiss'));
    return left && Buffer.concat(await left.read().toArray()).toString();
  };
  const draft = await services().blobs.draft();
  await draft.write(Buffer.from('gneiss'));
  await draft.finish();
  const name = draft.leave();
  await draft.discard();
  expect(await text(name)).toBe('gneiss');
  const left = await services().blobs.left(name, digest('gneiss'));
  await inTransaction(services().database.db, async (tx) => {
    await left?.keep(tx);
    await sql`insert into named_blobs values (${digest('gneiss')})`.execute(tx);
  });
  await left?.discard();
  expect(await text(name)).toBeUndefined();
  expect(await read('gneiss')).toBe('gneiss');
  await forget('gneiss');
  expect(drafts()).toEqual([]);
});

test('twenty at once are one file', async () => {
  await Promise.all(Array.from({ length: 20 }, () => keep('slate')));
  expect(await read('slate')).toBe('slate');
  expect(await rows('slate')).toBe(1);
  expect(drafts()).toEqual([]);
});

test('what is kept while it is released is there', async () => {
  for (let round = 0; round < 10; round += 1) {
    await keep('chalk');
    await Promise.all([forget('chalk'), keep('chalk'), keep('chalk')]);
    expect(await read('chalk')).toBe('chalk');
    await forget('chalk');
    await forget('chalk');
    expect(existsSync(fileOf('chalk'))).toBe(false);
  }
});

test('a sweep removes what nothing names, and nothing that is young', async () => {
  await keep('basalt');
  await expect(keep('flint', true)).rejects.toThrow('no row');
  await expect(keep('marl', true)).rejects.toThrow('no row');
  expect(existsSync(fileOf('flint'))).toBe(true);
  const draft = await services().blobs.draft();
  await draft.write(Buffer.from('half'));
  writeFileSync(join(root(), 'drafts', 'left'), 'half');
  for (const file of [fileOf('basalt'), fileOf('flint'), join(root(), 'drafts', 'left')]) isOld(file);
  // A row that a cascade left behind.
  await keep('tuff');
  await sql`delete from named_blobs where sha256 = ${digest('tuff')}`.execute(services().database.db);
  await services().blobs.sweep();
  expect(await read('basalt')).toBe('basalt');
  expect(await read('flint')).toBeUndefined();
  expect(await read('tuff')).toBeUndefined();
  expect(await read('marl')).toBe('marl');
  expect(drafts()).toHaveLength(1);
  await draft.discard();
});

describe('with an object store', () => {
  const never = () => false;
  const nearRoot = () => join(services().config.data, 'near');
  const farRoot = () => join(services().config.data, 'far');
  /** A store that speaks no protocol: journeys/object-store.test.ts has a real one. */
  const folderStore = (): ObjectStore => ({
    async put(object, file) {
      mkdirSync(dirname(join(farRoot(), object)), { recursive: true });
      copyFileSync(file, join(farRoot(), object), constants.COPYFILE_EXCL);
    },
    async open(object) {
      const path = join(farRoot(), object);
      return existsSync(path) ? asBlob(await openFile(path)) : undefined;
    },
    remove: async (object) => rmSync(join(farRoot(), object), { force: true }),
    async *older(before) {
      const all = readdirSync(farRoot(), { recursive: true, encoding: 'utf8' });
      yield all.filter((name) => {
        const found = statSync(join(farRoot(), name));
        return found.isFile() && found.mtime < before;
      });
    },
  });
  const blobsWith = (objects: ObjectStore) =>
    createBlobs(nearRoot(), services().database, { disk: services().disk, log: services().log, objects });
  const makeBlobs = () => blobsWith(folderStore());
  const isNear = (text: string) => existsSync(blobPath(nearRoot(), nameOf(text)));
  const objectsOf = (text: string) => {
    const folder = join(farRoot(), nameOf(text).slice(0, 2), nameOf(text));
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  test('a blob is in the folder first, comes to rest there, and goes from both', async () => {
    const blobs = makeBlobs();
    await keep('onyx', false, blobs);
    expect([isNear('onyx'), objectsOf('onyx')]).toEqual([true, []]);
    expect(await blobs.moveAway(() => true)).toBe(false);
    expect(isNear('onyx')).toBe(true);
    expect(await blobs.moveAway(never)).toBe(true);
    expect([isNear('onyx'), objectsOf('onyx').length]).toEqual([false, 1]);
    expect(await read('onyx', blobs)).toBe('onyx');
    // The same bytes again are there already.
    await keep('onyx', false, blobs);
    expect(isNear('onyx')).toBe(false);
    for (let named = 2; named > 0; named -= 1) {
      expect(await read('onyx', blobs)).toBe('onyx');
      await forget('onyx', blobs);
    }
    expect([await read('onyx', blobs), await rows('onyx')]).toEqual([undefined, 0]);
    await blobs.moveAway(never);
    expect(objectsOf('onyx')).toEqual([]);
  });

  test('what is kept while it is moved and released is there', async () => {
    const blobs = makeBlobs();
    for (let round = 0; round < 20; round += 1) {
      await keep('jade', false, blobs);
      const moving = blobs.moveAway(never);
      await Promise.all([forget('jade', blobs), keep('jade', false, blobs), moving, blobs.moveAway(never)]);
      expect(await read('jade', blobs)).toBe('jade');
      await forget('jade', blobs);
      expect(await read('jade', blobs)).toBeUndefined();
    }
  });

  test('an object that is removed late takes nothing with it that came meanwhile', async () => {
    const late: (() => Promise<void>)[] = [];
    const store = folderStore();
    // It ends for us, and is carried out later.
    const slow = blobsWith({
      ...store,
      remove: async (object) => void late.push(() => store.remove(object)),
    });
    await keep('beryl', false, slow);
    await slow.moveAway(never);
    await forget('beryl', slow);
    await slow.moveAway(never);
    await keep('beryl', false, slow);
    await slow.moveAway(never);
    for (const remove of late) await remove();
    expect(await read('beryl', slow)).toBe('beryl');
    await forget('beryl', slow);
  });

  test('while it does not answer, blobs stay in the folder; what it did not remove goes later', async () => {
    const fail = () => Promise.reject(new Error('the object store is away'));
    const away = blobsWith({ ...folderStore(), put: fail, open: fail, remove: fail });
    await keep('opal', false, away);
    expect(await away.moveAway(never)).toBe(true);
    expect(await read('opal', away)).toBe('opal');
    await makeBlobs().moveAway(never);
    await expect(read('opal', away)).rejects.toThrow('is away');
    await forget('opal', away);
    expect(await away.moveAway(never)).toBe(true);
    expect([objectsOf('opal').length, await rows('opal')]).toEqual([1, 0]);
    await makeBlobs().moveAway(never);
    expect(objectsOf('opal')).toEqual([]);
  });

  test('files that cannot be moved hold up no others, and rest while others are moved', async () => {
    const broken = new Set(Array.from({ length: 26 }, (_, at) => `broken ${at}`));
    const paths = new Map([...broken].map((text) => [blobPath(nearRoot(), nameOf(text)), text]));
    const store = folderStore();
    const asked: string[] = [];
    let away = false;
    const blobs = blobsWith({
      ...store,
      async put(object, file, sha256) {
        const text = paths.get(file);
        asked.push(text ?? 'whole');
        if (away || (text !== undefined && broken.has(text))) throw new Error('EIO');
        await store.put(object, file, sha256);
      },
    });
    for (const text of [...broken, 'whole']) await keep(text, false, blobs);
    for (let turn = 0; turn < 3; turn += 1) await blobs.moveAway(never);
    expect(isNear('whole')).toBe(false);
    // Those that failed before it are tried behind it, and rest then.
    await keep('newer', false, blobs);
    for (let turn = 0; turn < 4; turn += 1) await blobs.moveAway(never);
    expect(isNear('newer')).toBe(false);
    asked.length = 0;
    await blobs.moveAway(never);
    expect(asked).toEqual([]);
    const back = moveClock(3_700_000);
    broken.clear();
    await blobs.moveAway(never);
    back();
    expect([...paths.values()].filter(isNear)).toEqual([]);

    // A store that was away makes nothing rest.
    away = true;
    await keep('waits', false, blobs);
    for (let turn = 0; turn < 3; turn += 1) await blobs.moveAway(never);
    away = false;
    await blobs.moveAway(never);
    expect(isNear('waits')).toBe(false);
    for (const text of [...paths.values(), 'whole', 'newer', 'waits']) await forget(text, blobs);
  });

  test('a sweep removes objects that no row names, and those of others stay', async () => {
    const blobs = makeBlobs();
    await keep('amber', false, blobs);
    await blobs.moveAway(never);
    const name = nameOf('amber');
    const orphan = `${name.slice(0, 2)}/${name}/5-${'0'.repeat(16)}`;
    for (const object of [orphan, 'theirs/file']) {
      mkdirSync(dirname(join(farRoot(), object)), { recursive: true });
      writeFileSync(join(farRoot(), object), 'amber');
      isOld(join(farRoot(), object));
    }
    for (const object of objectsOf('amber')) isOld(join(farRoot(), name.slice(0, 2), name, object));
    await blobs.sweep();
    await blobs.moveAway(never);
    expect(objectsOf('amber')).toHaveLength(1);
    expect(await read('amber', blobs)).toBe('amber');
    expect(existsSync(join(farRoot(), 'theirs/file'))).toBe(true);
    await forget('amber', blobs);
  });
});

test.each([
  { length: 0, range: undefined, from: 0, to: 0 },
  { length: 65_536, range: undefined, from: 0, to: 65_536 },
  { length: 200_000, range: undefined, from: 0, to: 200_000 },
  { length: 200_000, range: { start: 65_535, end: 131_073 }, from: 65_535, to: 131_074 },
])('a file of $length bytes is sent in pieces, from $from to $to', async ({ length, range, from, to }) => {
  const bytes = randomBytes(length);
  const path = join(root(), 'drafts', 'pieces');
  writeFileSync(path, bytes);
  const blob = await asBlob(await openFile(path));
  const stream = blob.stream(range);
  expect(Buffer.concat(await stream.toArray())).toEqual(bytes.subarray(from, to));
  expect(stream.closed).toBe(true);
  await expect(blob.read(Buffer.alloc(1), 0)).rejects.toThrow();
  rmSync(path);
});

test('a file that is not read to its end is closed, and one that cannot be read ends with an error', async () => {
  const path = join(root(), 'drafts', 'pieces');
  writeFileSync(path, randomBytes(200_000));
  const blob = await asBlob(await openFile(path));
  const stream = blob.stream();
  stream.read(0);
  stream.destroy();
  await once(stream, 'close');
  await expect(blob.read(Buffer.alloc(1), 0)).rejects.toThrow();
  const closed = await asBlob(await openFile(path));
  await closed.close();
  await expect(closed.stream().toArray()).rejects.toThrow();
  rmSync(path);
});
