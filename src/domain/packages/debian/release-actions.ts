/**
 * Makes releases of distributions when somebody asks for one that is not there: their indexes as blobs, and their signatures. A
 * release is found by a fingerprint of all that it shows, so that nothing has to tell it of changes.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sql } from 'kysely';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { createShare, runForProgram } from '../../../platform/fair-share.ts';
import { digest, parsePrivateKey, unseal } from '../../../platform/secret.ts';
import { PIECE_LENGTH, takeTurns } from '../../../platform/turns.ts';
import type { DistributionRow } from './distribution-queries.ts';
import {
  type Entry,
  entryOf,
  type Index,
  indexesOf,
  releaseText,
  type WrittenIndex,
} from './index-documents.ts';
import { detachedSignature, signedText } from './openpgp.ts';
import {
  FILES_READ,
  type Origin,
  projectsOf,
  type Release,
  selectIndexed,
  selectOld,
  selectRelease,
  selectState,
} from './queries.ts';

type ReleaseServices = Needs<'database' | 'blobs' | 'secretKey'>;
export type View = { distribution: DistributionRow; origins: readonly Origin[] };

/** Programs ask for the indexes of a release after it; group members see releases of their own projects. */
const KEPT = { kept: 100, keptOfProjects: 10 };
const HOUR_MS = 3_600_000;
/** That are encoded in one go. */
const PARAGRAPHS = 200;

/** Each holds the descriptions of all packages. */
const builds = createShare({
  of: 'releases of packages to make',
  places: 1,
  perCaller: 1,
  waitingPerCaller: 20,
  waiting: 100,
  timeoutMs: 60_000,
});

const pack = promisify(gzip);

/** A release that programs take for half as long as it is valid, then the next one. */
function periodOf(seconds: number | null): number {
  return seconds === null ? 0 : Math.floor(now().getTime() / (seconds * 500));
}

const fingerprintOf = ({ distribution, origins }: View, files: string): Buffer => {
  const { private_key_sealed: _, public_key: __, created_at: ___, ...fields } = distribution;
  const period = periodOf(distribution.valid_time_duration_seconds);
  return digest(JSON.stringify([fields, origins.map(({ id }) => id), files, period]));
};

/** A release whose indexes are written, and the digests of the empty ones: there may be hundreds. */
type Begun = { id: number; empty: Map<string, Buffer> };

const nameIndex = (db: Db, { id }: Begun, { path, sha256, size }: WrittenIndex) =>
  db.insertInto('debian_indexes').values({ release_id: id, path, sha256, size }).execute();

/** Kept as one file, written in pieces: its digest. */
async function keep(
  { blobs, database }: ReleaseServices,
  begun: Begun,
  path: string,
  content: Buffer,
): Promise<Buffer> {
  const draft = await blobs.draft();
  try {
    for (let at = 0; at < content.length; at += PIECE_LENGTH)
      await draft.write(content.subarray(at, at + PIECE_LENGTH));
    const { sha256 } = await draft.finish();
    await inTransaction(database.db, async (tx) => {
      await draft.keep(tx);
      await nameIndex(tx, begun, { path, sha256, size: content.length });
    });
    return sha256;
  } finally {
    await draft.discard();
  }
}

/** In pieces, so that others are served between them. */
async function bytesOf(paragraphs: readonly string[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const turn = takeTurns();
  for (let at = 0; at < paragraphs.length; at += PARAGRAPHS) {
    await turn();
    pieces.push(Buffer.from(paragraphs.slice(at, at + PARAGRAPHS).join('')));
  }
  return Buffer.concat(pieces);
}

/** Keeps an index, as it is and packed. */
async function writeIndex(
  services: ReleaseServices,
  begun: Begun,
  { path, paragraphs }: Index,
): Promise<WrittenIndex[]> {
  const content = await bytesOf(paragraphs);
  const written: WrittenIndex[] = [];
  for (const [ending, bytes] of [
    ['', content],
    ['.gz', await pack(content)],
  ] as const) {
    const name = `${path}${ending}`;
    const known = content.length === 0 ? begun.empty.get(ending) : undefined;
    const sha256 = known ?? (await keep(services, begun, name, bytes));
    const index = { path: name, sha256, size: bytes.length };
    if (known) await nameIndex(services.database.db, begun, index);
    if (content.length === 0) begun.empty.set(ending, sha256);
    written.push(index);
  }
  return written;
}

/** All files as they are read, in pieces, and what is counted of them: it tells when that is no state that there ever was. */
async function readEntries(db: Db, { distribution, origins }: View) {
  const { first } = await selectState(db, distribution, origins);
  const entries: Entry[] = [];
  let sum = 0n;
  for (let after = (first ?? 1) - 1; ; ) {
    const files = await selectIndexed(db, origins, after);
    for (const file of files) {
      entries.push(entryOf(distribution, file));
      sum += BigInt(file.hash);
    }
    after = files.at(-1)?.file_id ?? after;
    if (files.length < FILES_READ) return { entries, files: `${entries.length} ${sum}` };
  }
}

/** Removes releases that nobody asks for any more. */
async function removeOld({ database, blobs }: ReleaseServices, distribution: DistributionRow): Promise<void> {
  const begun = new Date(now().getTime() - HOUR_MS);
  const old = await selectOld(database.db, distribution, { ...KEPT, begun });
  if (old.ids.length === 0) return;
  await database.db.deleteFrom('debian_releases').where('id', 'in', old.ids).execute();
  await blobs.release(old.blobs);
}

async function build(services: ReleaseServices, view: View): Promise<Release> {
  const { distribution, origins } = view;
  const { db } = services.database;
  const { entries, files } = await readEntries(db, view);
  const fingerprint = fingerprintOf(view, files);
  const known = await selectRelease(db, distribution, origins, fingerprint);
  if (known) return known;
  const { id } = await db
    .insertInto('debian_releases')
    .values({
      distribution_id: distribution.id,
      fingerprint,
      project_ids: projectsOf(origins),
      created_at: now(),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const begun: Begun = { id, empty: new Map() };
  const written: WrittenIndex[] = [];
  for (const index of indexesOf(distribution, entries))
    written.push(...(await writeIndex(services, begun, index)));
  const time = now();
  const release = releaseText(distribution, written, time);
  const key = parsePrivateKey(unseal(services.secretKey, distribution.private_key_sealed));
  const signing = { key, madeAt: distribution.created_at };
  const { rows } = await sql<Release>`
    update debian_releases set release = ${release}, signed_release = ${signedText(signing, release, time)},
      signature = ${detachedSignature(signing, release, time)}, created_at = ${time}
    where id = ${id} returning *`.execute(db);
  // Its distribution may have been deleted meanwhile.
  const made = found(rows[0], 'Distribution');
  await removeOld(services, distribution);
  return made;
}

/** By database: those that are being made. */
const building = new WeakMap<ReleaseServices['database'], Map<string, Promise<Release>>>();

/** In the turn of who asks first; what comes of it is everybody's. */
function make(services: ReleaseServices, view: View, key: string): Promise<Release> {
  const mine = building.get(services.database) ?? new Map<string, Promise<Release>>();
  building.set(services.database, mine);
  const making = builds.run(() => runForProgram(() => build(services, view))).finally(() => mine.delete(key));
  mine.set(key, making);
  return making;
}

const isRefusedCaller = (error: unknown): boolean =>
  error instanceof Failure && error.kind === 'too_many_requests';

/** The release of what there is now. */
export async function currentRelease(services: ReleaseServices, view: View): Promise<Release> {
  const { db } = services.database;
  const fingerprint = fingerprintOf(view, (await selectState(db, view.distribution, view.origins)).files);
  const known = await selectRelease(db, view.distribution, view.origins, fingerprint);
  if (known) return known;
  const key = fingerprint.toString('hex');
  // Who asks for the same waits for the same.
  const others = building.get(services.database)?.get(key);
  if (!others) return make(services, view, key);
  try {
    return await others;
  } catch (error) {
    // It was another one who asked too much.
    if (isRefusedCaller(error)) return make(services, view, key);
    throw error;
  }
}
