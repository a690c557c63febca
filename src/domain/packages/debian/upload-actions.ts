/**
 * Takes files of Debian packages. One that comes with its distribution is published at once; others wait, in a package without a
 * version, until the description of their upload comes.
 */
import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db } from '../../../platform/db/database.ts';
import { badRequest } from '../../../platform/failure.ts';
import {
  type Metadata,
  type PublishContext,
  publishFile,
  requirePublishable,
} from '../publishing/publish-actions.ts';
import type { Arrived } from '../publishing/receive.ts';
import type { PackageFileRow, PackageRow } from '../records/queries.ts';
import {
  type Binary,
  binaryOf,
  type Changes,
  changesOf,
  type Listed,
  type Source,
  sourceOf,
  stanzaOf,
} from './control.ts';
import { readControl } from './deb-archive.ts';
import { type DistributionRow, selectNamed } from './distribution-queries.ts';
import { countFiles, lockArchive, lockIncoming, selectWaiting } from './queries.ts';
import { ALL, componentOf, type FileKind, isBinary, kindOf } from './rules.ts';
import { waitingSince } from './waiting-actions.ts';

/** The package of what waits. */
const INCOMING = 'incoming';
const MAX_WAITING = 1_000;
/** Of a description of a source or of an upload. */
const MAX_TEXT = 1_048_576;

async function readText(upload: Arrived): Promise<string> {
  if (upload.size > MAX_TEXT) throw badRequest(`the file has more than ${MAX_TEXT} bytes`);
  return readFile(upload.draft.path, 'utf8');
}

/** What is read of a file when it comes, so that nobody opens it again. */
async function describe(kind: FileKind, upload: Arrived): Promise<Metadata> {
  if (isBinary(kind)) return binaryOf(await readControl(upload.draft.path));
  return kind === 'dsc' ? sourceOf(await readText(upload)) : {};
}

type Place = {
  kind: 'deb' | 'udeb' | 'dsc' | 'other';
  component: string;
  architecture: string | null;
  stanza: string;
};

/** A file is in a distribution once by its name: what comes again takes its place. */
async function place(
  tx: Db,
  distribution: DistributionRow,
  file: PackageFileRow,
  { kind, component, architecture, stanza }: Place,
): Promise<void> {
  const values = {
    ...{ file_id: file.id, distribution_id: distribution.id, package_id: file.package_id },
    ...{ file_name: file.file_name, kind, component, architecture, stanza },
  };
  await ahead(tx)
    .insertInto('debian_files')
    .values(values)
    .onConflict((conflict) =>
      conflict
        .columns(['package_id', 'distribution_id', 'file_name'])
        .doUpdateSet({ file_id: file.id, kind, component, architecture, stanza }),
    )
    .execute();
}

function requirePlace(distribution: DistributionRow, component: string, architecture: string): void {
  const { codename, components, architectures } = distribution;
  if (!components.includes(component))
    throw badRequest(`the distribution ${codename} has no component ${component}`);
  if (architecture !== ALL && !architectures.includes(architecture))
    throw badRequest(`the distribution ${codename} has no architecture ${architecture}`);
}

function placeOfBinary(
  distribution: DistributionRow,
  kind: 'deb' | 'udeb',
  component: string,
  { architecture, stanza }: Binary,
  file: PackageFileRow,
): Place {
  requirePlace(distribution, component, architecture);
  const digests = [
    { name: 'Size', value: String(file.size) },
    { name: 'MD5sum', value: file.md5.toString('hex') },
    { name: 'SHA1', value: file.sha1.toString('hex') },
    { name: 'SHA256', value: file.sha256.toString('hex') },
  ];
  return { kind, component, architecture, stanza: stanza + stanzaOf(digests) };
}

/** Its index lists the archives of the source, and the description itself. */
function placeOfSource(
  distribution: DistributionRow,
  component: string,
  { stanza, files }: Source,
  file: PackageFileRow,
): Place {
  requirePlace(distribution, component, ALL);
  const own = {
    ...{ name: file.file_name, size: file.size, md5: file.md5.toString('hex') },
    ...{ sha1: file.sha1.toString('hex'), sha256: file.sha256.toString('hex') },
  };
  const list = (name: string, digestOf: (file: Listed) => string | undefined) => {
    const lines = [own, ...files].map((each) => ` ${digestOf(each)} ${each.size} ${each.name}`);
    return { name, value: `\n${lines.join('\n')}` };
  };
  const lists = [list('Files', ({ md5 }) => md5), list('Checksums-Sha256', ({ sha256 }) => sha256)];
  return { kind: 'dsc', component, architecture: 'source', stanza: stanza + stanzaOf(lists) };
}

/** Publishes a package in the distribution. */
async function publishBinary(
  context: PublishContext,
  upload: Arrived,
  { fileName, kind }: { fileName: string; kind: 'deb' | 'udeb' },
  { distribution, component }: { distribution: DistributionRow; component: string },
): Promise<void> {
  const binary = binaryOf(await readControl(upload.draft.path));
  requirePlace(distribution, component, binary.architecture);
  const publishable = await requirePublishable(context, { type: 'debian', name: binary.source });
  const given = { ...publishable, version: binary.sourceVersion };
  await publishFile(context, upload, given, { name: fileName }, undefined, (tx, { file }) =>
    place(tx, distribution, file, placeOfBinary(distribution, kind, component, binary, file)),
  );
}

/** Keeps a file until the description of its upload comes; a day at most. */
async function keepWaiting(
  context: PublishContext,
  upload: Arrived,
  fileName: string,
  metadata: Metadata,
): Promise<void> {
  const publishable = await requirePublishable(context, { type: 'debian', name: INCOMING });
  const given = { ...publishable, version: null, status: 'processing' } as const;
  await publishFile(context, upload, given, { name: fileName, metadata }, async (tx, row) => {
    await sql`delete from package_files where package_id = ${row.id}
      and (created_at < ${waitingSince()} or file_name = ${fileName})`.execute(ahead(tx));
    if ((await countFiles(tx, row.id)) >= MAX_WAITING)
      throw badRequest(`${MAX_WAITING} files wait for their .changes files already`);
  });
}

/** Refuses what is not the file that is listed. */
function requireListed(file: PackageFileRow, listed: Listed): void {
  const isSame =
    file.size === listed.size &&
    file.md5.toString('hex') === listed.md5 &&
    (listed.sha1 === undefined || file.sha1.toString('hex') === listed.sha1) &&
    file.sha256.toString('hex') === listed.sha256;
  if (!isSame) throw badRequest(`${listed.name} is not the file that is listed`);
}

type Publication = { file: PackageFileRow; place: Place };

function publicationOf(
  distribution: DistributionRow,
  changes: Changes,
  listed: Changes['files'][number],
  file: PackageFileRow | undefined,
): Publication {
  if (!file) throw badRequest(`${listed.name} has not been uploaded`);
  requireListed(file, listed);
  const kind = kindOf(listed.name);
  const component = componentOf(listed.section);
  if (kind === 'changes' || kind === 'other')
    return { file, place: { kind: 'other', component, architecture: null, stanza: '' } };
  const { source, sourceVersion } = file.metadata as Binary | Source; // describe() wrote it
  if (source !== changes.source || sourceVersion !== changes.sourceVersion)
    throw badRequest(`${listed.name} is of ${source} ${sourceVersion}`);
  return {
    file,
    place: isBinary(kind)
      ? placeOfBinary(distribution, kind, component, file.metadata as Binary, file)
      : placeOfSource(distribution, component, file.metadata as Source, file),
  };
}

/** A file of another version, as one of this. */
function copyTo(tx: Db, row: PackageRow, { id: _, ...columns }: PackageFileRow): Promise<PackageFileRow> {
  return tx
    .insertInto('package_files')
    .values({ ...columns, metadata: sql`'{}'::jsonb`, package_id: row.id, created_at: now() })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The archives of a source that came with another version of it become files of this one, too. */
async function placeArchives(
  tx: Db,
  row: PackageRow,
  distribution: DistributionRow,
  publications: readonly Publication[],
): Promise<void> {
  const came = new Map(publications.map(({ file }) => [file.file_name, file]));
  for (const { file, place: where } of publications) {
    if (where.kind !== 'dsc') continue;
    for (const listed of (file.metadata as Source).files) {
      const uploaded = came.get(listed.name);
      if (uploaded) {
        requireListed(uploaded, listed);
        continue;
      }
      const known = await lockArchive(tx, row, distribution, listed);
      if (!known) throw badRequest(`${listed.name} has not been uploaded`);
      requireListed(known.file, listed);
      const archive = known.isOwn ? known.file : await copyTo(tx, row, known.file);
      await place(tx, distribution, archive, { ...where, kind: 'other', architecture: null, stanza: '' });
    }
  }
}

/** Publishes what the description lists, all of it or nothing. */
async function publishChanges(context: PublishContext, upload: Arrived, fileName: string): Promise<void> {
  const { db, subject } = context;
  const changes = changesOf(await readText(upload));
  const distribution = await selectNamed(db, { project_id: subject.id }, changes.distribution);
  if (!distribution) throw badRequest(`the project has no distribution ${changes.distribution}`);
  const publishable = await requirePublishable(context, { type: 'debian', name: changes.source });
  const given = { ...publishable, version: changes.sourceVersion };
  await publishFile(context, upload, given, { name: fileName }, undefined, async (tx, published) => {
    const { package: row } = published;
    const incoming = await lockIncoming(tx, subject.id, INCOMING);
    const names = changes.files.map(({ name }) => name);
    const waiting = incoming === undefined ? [] : await selectWaiting(tx, incoming, names);
    const byName = new Map(waiting.map((file) => [file.file_name, { ...file, package_id: row.id }]));
    const publications = changes.files.map((listed) =>
      publicationOf(distribution, changes, listed, byName.get(listed.name)),
    );
    const ids = waiting.map(({ id }) => id);
    await sql`update package_files set package_id = ${row.id}, metadata = '{}' where id = any(${ids}::bigint[])`.execute(
      ahead(tx),
    );
    await sql`update package_file_pipelines set package_id = ${row.id}
      where package_file_id = any(${ids}::bigint[])`.execute(ahead(tx));
    for (const { file, place: where } of publications) await place(tx, distribution, file, where);
    await placeArchives(tx, row, distribution, publications);
    const main = { kind: 'other', component: 'main', architecture: null, stanza: '' } as const;
    await place(tx, distribution, published.file, main);
  });
}

/** Takes a file; 404 for a distribution that the project has not. */
export async function takeUpload(
  context: PublishContext,
  upload: Arrived,
  fileName: string,
  { distribution: name, component }: { distribution?: string; component?: string },
): Promise<void> {
  const kind = kindOf(fileName);
  if (name === undefined) {
    if (kind === 'changes') return publishChanges(context, upload, fileName);
    return keepWaiting(context, upload, fileName, await describe(kind, upload));
  }
  if (!isBinary(kind)) throw badRequest('distribution is for .deb, .udeb and .ddeb files');
  if (component === undefined) throw badRequest('component is missing');
  const owner = { project_id: context.subject.id };
  const distribution = found(await selectNamed(context.db, owner, name), 'Distribution');
  return publishBinary(context, upload, { fileName, kind }, { distribution, component });
}
