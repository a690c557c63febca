/** Publishes files of packages: the package where there is none yet, the file, and the pipeline it came from. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { authorizePackages } from '../../../kernel/access/package-access.ts';
import { type Caller, jobCredentialOf } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { DeployToken } from '../../../kernel/identity/deploy-token-queries.ts';
import { levelOf } from '../../../kernel/protection/levels.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { selectJobOfToken } from '../../ci/index.ts';
import { selectRulesFor } from '../protection/queries.ts';
import { requirePush } from '../protection/rules.ts';
import type { PackageFileRow, PackageRow } from '../records/queries.ts';
import type { PackageStatus } from '../records/types.ts';
import type { PackageKey } from './queries.ts';
import type { Arrived } from './receive.ts';

export type PublishContext = {
  db: Db;
  services: Needs<'blobs' | 'database'>;
  /** Nobody for a deploy token. */
  actor: Caller;
  deployToken: DeployToken | undefined;
  subject: AuthorizedProject;
};

/** JSON that the format's programs read. */
export type Metadata = Readonly<Record<string, unknown>>;

declare const receipt: unique symbol;
/** A name under which the caller may publish. */
export type Publishable = Pick<PackageKey, 'type' | 'name'> & { readonly [receipt]: true };

export type NewPackage = Publishable &
  Pick<PackageKey, 'version'> & {
    /** What tells it from others of its name and version, where the format has several. */
    qualifier?: string;
    status?: PackageStatus;
    /** What is wrong with one whose status is `error`. */
    statusMessage?: string;
    metadata?: Metadata;
  };

/** 403 for a name that a rule keeps from the caller. Formats whose addresses have the name ask before the file comes. */
export async function requirePublishable(
  { db, actor, subject }: Pick<PublishContext, 'db' | 'actor' | 'subject'>,
  name: Pick<PackageKey, 'type' | 'name'>,
): Promise<Publishable> {
  const rules = await selectRulesFor(db, subject, { package_type: name.type });
  requirePush(rules, levelOf(actor, subject.role), name.name);
  return name as Publishable; // only this function makes one
}

/** With what the sender may now: uploads take hours, and roles end meanwhile. */
const withPresentRights = async (context: PublishContext): Promise<PublishContext> => {
  const { services, subject } = context;
  const { points } = services.database;
  return { ...context, subject: await authorizePackages(points, context, 'publish_packages', subject.id) };
};

/**
 * The package, locked until the transaction ends, and whether it is new. 404 where the project is gone meanwhile, and 403 where
 * a rule was made that keeps the name from the sender.
 */
async function keepPackage(
  tx: Db,
  { actor, subject }: PublishContext,
  { type, name, version, qualifier, status, statusMessage, metadata }: NewPackage,
): Promise<PackageRow & { is_new: boolean }> {
  await requirePublishable({ db: tx, actor, subject }, { type, name });
  const time = now();
  const { rows } = await sql<PackageRow & { is_new: boolean }>`
    insert into packages (project_id, package_type, name, version, qualifier, status, status_message, metadata, creator_id, created_at, updated_at)
    select id, ${type}, ${name}, ${version}, ${qualifier ?? ''}, ${status ?? 'default'}, ${statusMessage ?? null}, ${JSON.stringify(metadata ?? {})}::text::jsonb,
      ${actor?.id ?? null}, ${time}, ${time}
    from projects where id = ${subject.id} and not deleting for key share
    on conflict (project_id, package_type, name, version, qualifier) do update set updated_at = excluded.updated_at,
      status = coalesce(${status ?? null}, packages.status),
      metadata = case when ${metadata !== undefined} then excluded.metadata else packages.metadata end
    returning *, xmax = 0 as is_new`.execute(tx);
  return found(rows[0], 'Project');
}

/** Stores what has come as a file of the locked package. */
export async function keepFile(
  tx: Db,
  row: PackageRow,
  upload: Arrived,
  { name, metadata = {} }: { name: string; metadata?: Metadata },
): Promise<PackageFileRow> {
  await upload.draft.keep(tx);
  return tx
    .insertInto('package_files')
    .values({
      package_id: row.id,
      file_name: name,
      sha256: upload.sha256,
      size: upload.size,
      md5: upload.digests.get('md5') ?? Buffer.alloc(0),
      sha1: upload.digests.get('sha1') ?? Buffer.alloc(0),
      metadata: sql`${JSON.stringify(metadata)}::text::jsonb`,
      created_at: now(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Publishes a package that has no file of its own: what its metadata says is where it is. */
export const publishWithoutFile = async (context: PublishContext, given: NewPackage): Promise<PackageRow> => {
  const current = await withPresentRights(context);
  return inTransaction(context.db, (tx) => keepPackage(tx, current, given));
};

export type Published = { package: PackageRow; file: PackageFileRow };

/** Makes those that publish in the same words wait for each other, until the transaction ends. */
export const lockWords = (tx: Db, ...words: readonly (string | number)[]): Promise<unknown> =>
  sql`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify(words)}, 0))`.execute(ahead(tx));

/**
 * Publishes the upload as a file of the package, which may depend on what is there. `judge` refuses what the format does not have
 * twice, and writes what else the format has: it gets the package, locked, and whether it is new. `follow` writes what the
 * format has beside the file.
 */
export async function publishFile(
  context: PublishContext,
  upload: Arrived,
  given: NewPackage | ((tx: Db) => Promise<NewPackage>),
  file: { name: string; metadata?: Metadata },
  judge?: (tx: Db, row: PackageRow & { is_new: boolean }) => Promise<void> | void,
  follow?: (tx: Db, published: Published) => Promise<void>,
): Promise<Published> {
  const current = await withPresentRights(context);
  return inTransaction(context.db, async (tx) => {
    const row = await keepPackage(tx, current, typeof given === 'function' ? await given(tx) : given);
    await judge?.(tx, row);
    const kept = await keepFile(tx, row, upload, file);
    const credential = jobCredentialOf(context.actor);
    const job = credential && (await selectJobOfToken(tx, credential.tokenId));
    // Those who read the packages need not read the pipelines of another project.
    if (job?.project_id === row.project_id)
      await ahead(tx)
        .insertInto('package_file_pipelines')
        .values({ package_file_id: kept.id, package_id: row.id, pipeline_id: job.pipeline_id })
        .execute();
    await follow?.(tx, { package: row, file: kept });
    return { package: row, file: kept };
  });
}
