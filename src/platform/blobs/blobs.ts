/**
 * Blobs: bytes by their SHA-256, of which one copy is kept however often they come. Rows name them by foreign keys to the
 * table `blobs`; that table's row is locked while a file gets its name or loses it, so that neither is without the other.
 */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { type RawBuilder, sql } from 'kysely';
import { now } from '../clock.ts';
import { type Database, type Db, inTransaction } from '../db/database.ts';
import type { Log } from '../log.ts';
import type { DiskGuard } from '../machine/disk.ts';
import { type DigestAlgorithm, randomHex, startDigest } from '../secret.ts';
import {
  blobPath,
  createDraft,
  diskFailure,
  draftPath,
  fileSize,
  isFile,
  oldBlobs,
  oldDrafts,
  openBlobFile,
  placeDraft,
  removeFile,
} from './blob-files.ts';
import { type ObjectStore, type OpenBlob, objectName, parseObjectName } from './blob-store.ts';
import { openDraftFile } from './draft-file.ts';
import { createMoveOrder } from './move-order.ts';

/** Bytes that have arrived: their number, and their digests. */
export type Received = { sha256: Buffer; size: number; digests: ReadonlyMap<DigestAlgorithm, Buffer> };

/** What arrives, under no name yet. */
export type Draft = {
  /** Its file, for those who look into what has arrived. */
  path: string;
  /** Resolves when there is room for the next piece. 503 on a full disk. */
  write(piece: Buffer): Promise<void>;
  /** Resolves when all that came is in its file: pieces that come fast are gathered first. */
  flush(): Promise<void>;
  /** Syncs what was written. */
  finish(): Promise<Received>;
  /** In the transaction of the row that names it, before that row. Call it after finish(). */
  keep(tx: Db): Promise<void>;
  /** Leaves what is finished to a later request, for a day: its name. discard() then leaves it, too. */
  leave(): string;
  /** Always the last call: what is not kept is gone. */
  discard(): Promise<void>;
};

/** What a draft left. */
export type LeftDraft = Pick<Draft, 'keep' | 'discard'> & { read(): Readable };

export type Blobs = {
  /** Computes these digests beside SHA-256. */
  draft(also?: readonly DigestAlgorithm[]): Promise<Draft>;
  /** Keeps bytes that are in memory, in the transaction of the row that names them, before that row: their SHA-256. */
  keepBytes(tx: Db, bytes: Buffer): Promise<Buffer>;
  /** What a draft left under the name, with this SHA-256; undefined where it is gone. */
  left(name: string, sha256: Buffer): Promise<LeftDraft | undefined>;
  /** Undefined where there is none. The caller reads its stream to the end, destroys it, or closes the blob. */
  open(sha256: Buffer): Promise<OpenBlob | undefined>;
  /** Removes those of the blobs that no row names any more; call it after the commit. Failures are logged. */
  release(digests: readonly Buffer[]): Promise<void>;
  /** Removes what nothing names: after cascades, and after processes that died. */
  sweep(): Promise<void>;
  /** Moves what is in the folder into the object store, if there is one, until `isOver`; whether it came to the end. */
  moveAway(isOver: () => boolean): Promise<boolean>;
};

const DAY_MS = 86_400_000;
const BATCH = 1_000;
const MOVED_AT_ONCE = 4;
/** In one turn: a store that does not answer is left alone. */
const MAX_FAILURES = 12;
/** Released in one transaction. */
const RELEASED = 100;

/** `exists` over each foreign key to the table of blobs: a table that has one needs no other registration. */
async function selectNaming(db: Db): Promise<string> {
  const { rows } = await sql<{ condition: string }>`
    select format('exists (select from %s r where r.%I = b.sha256)', c.conrelid::regclass, a.attname) as condition
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.confrelid = 'blobs'::regclass`.execute(db);
  return rows.length === 0 ? 'false' : rows.map(({ condition }) => condition).join(' or ');
}

/** An arbitrary key. A backup holds the lock while it reads; those who remove blobs share it, or leave them for a later sweep. */
export const BACKUP_LOCK = 7_263_114_906;

/** Whether a backup reads. */
export async function backupRuns(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = ${BACKUP_LOCK}`.execute(db);
  return rows.length > 0;
}

/** Whether no backup reads; none begins until the transaction ends. */
async function mayRemove(tx: Db): Promise<boolean> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock_shared(${BACKUP_LOCK}) as free`.execute(tx);
  return rows[0]?.free ?? false;
}

type BlobRow = { object: string | null };

/** Locks the row of the blob against its removal; makes it where there is none. */
async function holdBlob(tx: Db, sha256: Buffer): Promise<BlobRow> {
  for (;;) {
    // One that was being removed is gone when its lock is.
    const { rows } = await sql<BlobRow>`
      with made as (
        insert into blobs (sha256, created_at) values (${sha256}, ${now()}) on conflict do nothing returning object),
      held as (select object from blobs where sha256 = ${sha256} for key share)
      select object from made union all select object from held`.execute(tx);
    if (rows[0]) return rows[0];
  }
}

/**
 * Blobs below the folder `root`; drafts are refused before the disk is full, as other writes are. With an object store, whole
 * blobs come to rest there: they are in the folder first, so that nothing but reading waits for that store.
 */
export function createBlobs(
  root: string,
  { background, points }: Pick<Database, 'background' | 'points'>,
  {
    disk,
    log,
    objects,
  }: { disk: Pick<DiskGuard, 'refuseWritesOf'>; log: Log; objects?: ObjectStore | undefined },
): Blobs {
  const order = createMoveOrder();

  async function keepAs(tx: Db, path: string, sha256: Buffer): Promise<void> {
    const { object } = await holdBlob(tx, sha256);
    if (objects && object !== null) return;
    await placeDraft(root, path, sha256.toString('hex')).catch((error: unknown) => {
      throw diskFailure(error);
    });
  }

  async function draft(also: readonly DigestAlgorithm[] = []): Promise<Draft> {
    const name = randomHex(16);
    const { path, handle } = await createDraft(root, name).catch((error: unknown) => {
      throw diskFailure(error);
    });
    const hashes = new Map(also.map((algorithm) => [algorithm, startDigest(algorithm)]));
    const hash = startDigest('sha256');
    let size = 0;
    let open = true;
    let received: Received | undefined;
    let isLeft = false;
    const file = openDraftFile(handle);
    const close = async () => {
      if (open) await file.close();
      open = false;
    };
    return {
      path,
      async write(piece) {
        await disk.refuseWritesOf(piece.length);
        const written = file.write(piece);
        // While the disk is at work.
        size += piece.length;
        hash.update(piece);
        for (const each of hashes.values()) each.update(piece);
        await written;
      },
      flush: () => file.flush(),
      async finish() {
        await file.sync();
        await close();
        const digests = new Map([...hashes].map(([algorithm, each]) => [algorithm, each.digest()]));
        received = { sha256: hash.digest(), size, digests };
        return received;
      },
      async keep(tx) {
        if (!received) throw new Error('a draft is kept when it is finished');
        await keepAs(tx, path, received.sha256);
      },
      leave() {
        if (!received) throw new Error('a draft is left when it is finished');
        isLeft = true;
        return name;
      },
      async discard() {
        await close().catch(() => undefined);
        if (!isLeft) await removeFile(path);
      },
    };
  }

  /** Removes the file, unless it has a row again: who makes one waits until this ends, and then brings the file anew. */
  const removeUnnamed = (sha256: Buffer): Promise<void> =>
    inTransaction(background, async (tx) => {
      if (!(await mayRemove(tx))) return;
      const { rows } = await sql`
        insert into blobs (sha256, created_at) values (${sha256}, ${now()}) on conflict do nothing returning 1`.execute(
        tx,
      );
      if (rows.length === 0) return;
      await removeFile(blobPath(root, sha256.toString('hex')));
      await sql`delete from blobs where sha256 = ${sha256}`.execute(tx);
    });

  /** Leaves those whose rows somebody has: who names them, or removes them. */
  async function releaseSome(names: readonly string[], condition: RawBuilder<boolean>): Promise<void> {
    const removed = await inTransaction(background, async (tx) => {
      if (!(await mayRemove(tx))) return [];
      // Nobody names them or brings them again until this ends; who did so before is seen by the next statement.
      const held = await sql<{ name: string }>`
        select encode(sha256, 'hex') as name from blobs
        where sha256 in (select decode(name, 'hex') from unnest(${names}::text[]) as released (name))
        for update skip locked`.execute(tx);
      const { rows } = await sql<{ sha256: Buffer }>`
        with removed as (
          delete from blobs b
          where sha256 in (select decode(name, 'hex') from unnest(${held.rows.map(({ name }) => name)}::text[]) as held (name))
            and not (${condition})
          returning sha256, object),
        objects as (
          insert into removed_objects (object, removed_at)
          select object, ${now()} from removed where object is not null)
        select sha256 from removed`.execute(tx);
      return rows;
    });
    for (const { sha256 } of removed) await removeUnnamed(sha256);
  }

  /** What cannot be removed now goes with the next sweep. */
  async function release(digests: readonly Buffer[]): Promise<void> {
    try {
      const condition = sql.raw<boolean>(await selectNaming(background));
      for (let start = 0; start < digests.length; start += RELEASED) {
        const names = digests.slice(start, start + RELEASED).map((sha256) => sha256.toString('hex'));
        await releaseSome(names, condition);
      }
    } catch (error) {
      log.error('blobs could not be removed', error);
    }
  }

  /** Files without a row: those of transactions that did not end, and of processes that died. */
  async function sweepFiles(before: Date): Promise<void> {
    for await (const names of oldBlobs(root, before)) {
      const { rows } = await sql<{ sha256: Buffer }>`
        select decode(name, 'hex') as sha256 from unnest(${names}::text[]) as found (name)
        where not exists (select from blobs where sha256 = decode(name, 'hex'))`.execute(background);
      for (const { sha256 } of rows) await removeUnnamed(sha256);
    }
  }

  /** Objects that no row names: of moves that did not end. The next turn of moveAway() removes them. */
  async function sweepObjects(before: Date): Promise<void> {
    if (!objects) return;
    for await (const found of objects.older(before)) {
      const ours = found.filter((object) => parseObjectName(object));
      await sql`
        insert into removed_objects (object, removed_at)
        select object, ${now()} from unnest(${ours}::text[]) as found (object)
        where not exists (
          select from blobs b where b.sha256 = decode(split_part(found.object, '/', 2), 'hex') and b.object = found.object)
        on conflict do nothing`.execute(background);
    }
  }

  async function sweepRows(): Promise<void> {
    const condition = sql.raw<boolean>(await selectNaming(background));
    for (let last: Buffer = Buffer.alloc(0), more = true; more; ) {
      const { rows } = await sql<{ sha256: Buffer; named: boolean }>`
        select sha256, ${condition} as named from blobs b where sha256 > ${last} order by sha256 limit ${BATCH}`.execute(
        background,
      );
      await release(rows.filter(({ named }) => !named).map(({ sha256 }) => sha256));
      last = rows.at(-1)?.sha256 ?? last;
      more = rows.length === BATCH;
    }
  }

  /** Takes the file out of the folder if its bytes rest in the object store, while its row stays. */
  const removeMoved = (sha256: Buffer): Promise<void> =>
    inTransaction(background, async (tx) => {
      const { rows } = await sql<BlobRow>`
        select object from blobs where sha256 = ${sha256} for key share skip locked`.execute(tx);
      if (rows[0]?.object) await removeFile(blobPath(root, sha256.toString('hex')));
    });

  async function moveOne(name: string, to: ObjectStore): Promise<void> {
    const sha256 = Buffer.from(name, 'hex');
    const { rows } = await sql<BlobRow>`select object from blobs where sha256 = ${sha256}`.execute(
      background,
    );
    if (rows[0]?.object === null) {
      const file = blobPath(root, name);
      const object = objectName(name, await fileSize(file), randomHex(8));
      await to.put(object, file, sha256);
      // Where the row is gone, or another process was faster, the next sweep finds the object.
      await sql`update blobs set object = ${object} where sha256 = ${sha256} and object is null`.execute(
        background,
      );
    }
    await removeMoved(sha256);
  }

  /** False where it cannot be moved now: the next turn tries it again. */
  async function isMoved(name: string, to: ObjectStore): Promise<boolean> {
    try {
      await moveOne(name, to);
      return true;
    } catch (error) {
      // It was released meanwhile.
      if (!(await isFile(blobPath(root, name)))) return true;
      log.error('a blob could not be moved to the object store', error);
      return false;
    }
  }

  async function isObjectRemoved(object: string, from: ObjectStore): Promise<boolean> {
    try {
      await from.remove(object);
      await sql`delete from removed_objects where object = ${object}`.execute(background);
      return true;
    } catch (error) {
      log.error('an object could not be removed from the object store', error);
      return false;
    }
  }

  async function removeObjects(from: ObjectStore, isOver: () => boolean): Promise<boolean> {
    let failures = 0;
    for (let last = ''; ; ) {
      const { rows } = await sql<{ object: string }>`
        select object from removed_objects where object > ${last} order by object limit ${BATCH}`.execute(
        background,
      );
      for (const { object } of rows) {
        if (isOver()) return false;
        if (!(await isObjectRemoved(object, from))) failures += 1;
        if (failures >= MAX_FAILURES) return true;
      }
      last = rows.at(-1)?.object ?? last;
      if (rows.length < BATCH) return true;
    }
  }

  async function moveAway(isOver: () => boolean): Promise<boolean> {
    if (!objects) return true;
    const to = objects;
    let failures = 0;
    /** Why it went no further than that; undefined where it did. */
    async function moveAll(names: readonly string[]): Promise<'over' | 'failing' | undefined> {
      for (let start = 0; start < names.length; start += MOVED_AT_ONCE) {
        if (isOver()) return 'over';
        const some = names.slice(start, start + MOVED_AT_ONCE);
        const outcomes = await Promise.all(some.map((name) => isMoved(name, to)));
        failures += outcomes.filter((each) => !each).length;
        for (const [at, name] of some.entries())
          if (outcomes[at]) order.moved(name);
          else order.failed(name);
        if (failures >= MAX_FAILURES) return 'failing';
      }
      return undefined;
    }
    const suspects = order.suspects();
    for await (const names of oldBlobs(root, now())) {
      const end = await moveAll(names.filter(order.isFresh));
      if (end) return end !== 'over';
    }
    const end = await moveAll(suspects);
    if (end) return end !== 'over';
    return removeObjects(to, isOver);
  }

  async function open(sha256: Buffer): Promise<OpenBlob | undefined> {
    const near = await openBlobFile(root, sha256.toString('hex'));
    if (near || !objects) return near;
    const [row] = await points<BlobRow[]>`select object from blobs where sha256 = ${sha256}`;
    // Without an object it came into the folder after the first look.
    return row?.object ? objects.open(row.object) : openBlobFile(root, sha256.toString('hex'));
  }

  return {
    draft,
    async keepBytes(tx, bytes) {
      const kept = await draft();
      try {
        await kept.write(bytes);
        const { sha256 } = await kept.finish();
        await kept.keep(tx);
        return sha256;
      } finally {
        await kept.discard();
      }
    },
    async left(name, sha256) {
      const path = draftPath(root, name);
      if (!(await isFile(path))) return undefined;
      return {
        read: () => createReadStream(path),
        keep: (tx) => keepAs(tx, path, sha256),
        discard: () => removeFile(path),
      };
    },
    open,
    release,
    moveAway,
    async sweep() {
      const before = new Date(now().getTime() - DAY_MS);
      for (const path of await oldDrafts(root, before)) await removeFile(path);
      await sweepFiles(before);
      await sweepRows();
      await sweepObjects(before);
    },
  };
}
