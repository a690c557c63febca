/** Makes releases, with their tags where those are missing, changes and deletes them. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { auditedParent } from '../../kernel/access/resource-parents.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import type { Json } from '../../platform/db/rows.ts';
import { conflict, Failure, forbidden } from '../../platform/failure.ts';
import { fullRef, NO_OBJECT } from '../../platform/git/names.ts';
import { availableMilestones } from '../planning/index.ts';
import { createTag, guardRefs } from '../repositories/index.ts';
import { announcedRelease } from './announced-release.ts';
import { readTag } from './commits.ts';
import { insertEvidence } from './evidences/actions.ts';
import { selectAnnouncedLinks } from './links/queries.ts';
import { type LinkFields, linksOf } from './links/rules.ts';
import { lockRelease, selectRelease } from './queries.ts';
import type { ReleaseRow } from './release-row.ts';
import { evidenceTime, releaseName, requireMilestones } from './rules.ts';
import type { CreateInput, ReleaseChanges } from './schema.ts';

export type WriteContext = {
  services: Needs<'config' | 'database' | 'settings' | 'repositories' | 'registered'>;
  settings: ApplicationSettings;
  actor: Actor;
  subject: AuthorizedProject;
};

/** Why the caller may not publish at the tag, though a Developer publishes: it is protected. */
async function refusalAt(
  { services, settings, actor, subject }: WriteContext,
  tag: string,
): Promise<string | undefined> {
  const guard = await guardRefs(services.database.db, subject, actor, settings);
  return guard.refusal({ ref: fullRef('tag', tag), before: NO_OBJECT, after: tag });
}

/** 403 for what is published at a protected tag that the caller may not create. */
export async function requireTag(context: WriteContext, tag: string): Promise<void> {
  if ((await refusalAt(context, tag)) !== undefined) throw forbidden();
}

type MilestoneWish = { milestones?: readonly string[]; milestone_ids?: readonly number[] };

/** The ids of the milestones that a request names; undefined where it names none, 400 for ones that are not there. */
async function findMilestones(
  db: Db,
  project: AuthorizedProject,
  { milestones, milestone_ids }: MilestoneWish,
): Promise<number[] | undefined> {
  if (milestones === undefined && milestone_ids === undefined) return undefined;
  const wanted = milestones === undefined ? { ids: milestone_ids ?? [] } : { titles: milestones };
  const rows = await availableMilestones(db, project, wanted);
  requireMilestones(wanted, rows);
  return rows.map(({ id }) => id);
}

/** One that was deleted meanwhile is left out. */
async function insertMilestones(tx: Db, releaseId: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`insert into release_milestones (release_id, milestone_id)
    select ${releaseId}, id from milestones where id = any(${[...ids]}::bigint[])
    for key share on conflict do nothing`.execute(ahead(tx));
}

/** The commit of the tag, which is made where it is missing, as anybody makes tags; 422 where nothing says from what. */
async function ensureTag(context: WriteContext, input: CreateInput): Promise<string | null> {
  const { services, subject } = context;
  const { tag_name, ref, tag_message } = input;
  const known = await readTag(services, subject, tag_name);
  if (known) return known.commit?.oid ?? null;
  if (ref === undefined) throw new Failure('unprocessable', 'Ref is not specified');
  if (!subject.may('push_code')) throw forbidden();
  let refused: unknown;
  try {
    await createTag(context, { tag_name, ref, ...(tag_message !== undefined && { message: tag_message }) });
  } catch (error) {
    refused = error;
  }
  // Another request may have made it meanwhile.
  const made = await readTag(services, subject, tag_name);
  if (!made) throw refused ?? new Failure('bad_request', `Target ${ref} is invalid`);
  return made.commit?.oid ?? null;
}

async function insertLinks(
  tx: Db,
  releaseId: number,
  links: readonly LinkFields[],
  time: Date,
): Promise<void> {
  if (links.length === 0) return;
  const rows = links.map((link) => ({ release_id: releaseId, ...link, created_at: time, updated_at: time }));
  await ahead(tx).insertInto('release_links').values(rows).execute();
}

export const announceRelease = (
  tx: Db,
  { actor, subject }: Pick<WriteContext, 'actor' | 'subject'>,
  event: 'release_created' | 'release_updated' | 'release_deleted',
  row: ReleaseRow,
  payload: Record<string, Json> = {},
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event,
      details: { target_id: row.id, target_type: 'Release', target_details: releaseName(row) },
    },
    fact: {
      name: event,
      payload: { project_id: subject.id, user_id: actor.id, release_id: row.id, ...payload },
    },
  });

/** Makes a release; 409 where the tag has one, 403 for a protected tag, 400 for what cannot be in it. */
export async function createRelease(context: WriteContext, input: CreateInput): Promise<ReleaseRow> {
  const { services, actor, subject } = context;
  const { db } = services.database;
  const links = linksOf(input.assets?.links ?? []);
  const refusal = await refusalAt(context, input.tag_name);
  if (refusal !== undefined) throw new Failure('forbidden', refusal);
  if (await selectRelease(db, subject.id, input.tag_name)) throw conflict('Release already exists');
  const milestones = (await findMilestones(db, subject, input)) ?? [];
  const sha = await ensureTag(context, input);
  const created_at = now();
  const released_at = input.released_at === undefined ? created_at : new Date(input.released_at);
  const collected = evidenceTime({ released_at, created_at });
  return inTransaction(db, async (tx) => {
    const row = await tx
      .insertInto('releases')
      .values({
        project_id: subject.id,
        tag: input.tag_name,
        sha,
        name: input.name ?? null,
        description: input.description ?? null,
        author_id: actor.id,
        released_at,
        evidence_due_at: collected instanceof Date ? collected : null,
        created_at,
        updated_at: created_at,
      })
      .onConflict((conflicting) => conflicting.columns(['project_id', 'tag']).doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!row) throw conflict('Release already exists');
    await insertLinks(tx, row.id, links, created_at);
    await insertMilestones(tx, row.id, milestones);
    if (collected === 'now') await insertEvidence(tx, row);
    await announceRelease(tx, context, 'release_created', row);
    return row;
  });
}

/** Changes a release; 404 without it. Evidence that waits for its time waits for the new one. */
export async function updateRelease(
  context: WriteContext,
  tag: string,
  { name, description, released_at, ...wish }: ReleaseChanges,
): Promise<ReleaseRow> {
  const { services, subject } = context;
  const { db } = services.database;
  await requireTag(context, tag);
  const milestones = await findMilestones(db, subject, wish);
  return inTransaction(db, async (tx) => {
    const before = found(await lockRelease(tx, subject.id, tag));
    const time = released_at === undefined ? undefined : new Date(released_at);
    const row = await tx
      .updateTable('releases')
      .set({
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(time && { released_at: time }),
        ...(time && before.evidence_due_at && { evidence_due_at: time }),
        updated_at: now(),
      })
      .where('id', '=', before.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (milestones) {
      await ahead(tx)
        .deleteFrom('release_milestones')
        .where('release_id', '=', row.id)
        .where((where) => where.not(where('milestone_id', '=', sql<number>`any(${milestones}::bigint[])`)))
        .execute();
      await insertMilestones(tx, row.id, milestones);
    }
    await announceRelease(tx, context, 'release_updated', row);
    return row;
  });
}

/** Deletes the release; 404 without it. What it was is kept in the fact, as far as hooks tell it. */
export async function deleteRelease(
  context: WriteContext,
  tag: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> {
  const { services, subject } = context;
  await requireTag(context, tag);
  return inTransaction(services.database.db, async (tx) => {
    const row = found(await lockRelease(tx, subject.id, tag));
    unmodified(row.updated_at);
    const gone = announcedRelease(row, await selectAnnouncedLinks(tx, row.id));
    await ahead(tx).deleteFrom('releases').where('id', '=', row.id).execute();
    await announceRelease(tx, context, 'release_deleted', row, { gone });
  });
}

/** Gives what had the milestone in the project another one. */
export async function replaceMilestone(
  tx: Db,
  projectId: number,
  milestoneId: number,
  by: number,
): Promise<void> {
  const having = sql`select rm.release_id from release_milestones rm join releases r on r.id = rm.release_id
    where rm.milestone_id = ${milestoneId} and r.project_id = ${projectId}`;
  await sql`insert into release_milestones (release_id, milestone_id)
    select h.release_id, ${by} from (${having}) h on conflict do nothing`.execute(ahead(tx));
  await sql`delete from release_milestones
    where milestone_id = ${milestoneId} and release_id in (${having})`.execute(ahead(tx));
}

/** Releases become the ghost's. */
export async function reassignReleases(tx: Db, userId: number, ghostId: number): Promise<void> {
  await ahead(tx)
    .updateTable('releases')
    .set({ author_id: ghostId })
    .where('author_id', '=', userId)
    .execute();
}
