/** Sets where a project is pulled from, and asks for that. */
import { lockProject } from '../../kernel/access/own-row-queries.ts';
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { badRequest, forbidden, invalid } from '../../platform/failure.ts';
import { findUserOfProject } from '../conversation/index.ts';
import { addressOf, sealCredentials } from './credentials.ts';
import { lockSource, type MirrorRow } from './queries.ts';
import type { Address } from './remote/address.ts';
import { requestedPullAt } from './rules.ts';
import type { SetPullMirror } from './schema.ts';
import {
  addressAfter,
  audit,
  type MirrorContext,
  requireAvailable,
  requirePattern,
} from './shared-actions.ts';

export type PullChanges = SetPullMirror & { mirror_user_id?: number };

const started = (time: Date) =>
  ({ status: 'scheduled', due_at: time, failures: 0, is_told: false, last_error: null }) as const;

/** Checks a change of where a project comes from before anything is written. */
export async function requirePullChanges(
  { settings, actor }: Pick<MirrorContext, 'settings' | 'actor'>,
  changes: PullChanges,
): Promise<void> {
  requireAvailable(settings, actor);
  await requirePattern(changes.mirror_branch_regex);
}

/** 403 for another user in whose name is to be pulled, unless an administrator says so; 400 for one who may not. */
export async function requireUser(
  { services, actor, subject }: MirrorContext,
  wished: number | undefined,
): Promise<void> {
  if (wished === undefined || wished === actor.id) return;
  if (!actor.admin) throw forbidden();
  const user = await findUserOfProject(services, subject.id, wished);
  if (!user?.project.may('manage_mirrors')) throw invalid({ mirror_user_id: ['is invalid'] });
}

/** Sets where the project is pulled from, in the transaction; `property` is the name of the address in messages. */
export async function setSource(
  tx: Db,
  context: MirrorContext,
  changes: PullChanges,
  property: 'url' | 'import_url',
): Promise<MirrorRow> {
  const { services, subject } = context;
  await lockProject(tx, subject.id);
  const row = await lockSource(tx, subject);
  const address = addressAfter(context, row, changes, property);
  if (!address) throw invalid({ [property]: ["can't be blank"] });
  const enabled = changes.enabled ?? row?.enabled ?? false;
  const only_protected = changes.only_mirror_protected_branches ?? row?.only_protected ?? null;
  const branch_regex =
    changes.mirror_branch_regex === undefined
      ? (row?.branch_regex ?? null)
      : changes.mirror_branch_regex || null;
  if (only_protected && branch_regex !== null)
    throw invalid({ mirror_branch_regex: ['cannot be set with only_mirror_protected_branches'] });
  const time = now();
  const before = row && addressOf(services.secretKey, row);
  const isOther =
    before?.url !== address.url ||
    JSON.stringify(before?.credentials) !== JSON.stringify(address.credentials);
  const isNew = enabled && (!row?.enabled || isOther);
  const user =
    isNew || changes.mirror_user_id !== undefined || !row?.user_id
      ? (changes.mirror_user_id ?? context.actor.id)
      : row.user_id;
  const columns = {
    enabled,
    url: address.url,
    credentials_sealed: sealCredentials(services.secretKey, address.credentials),
    user_id: user,
    only_protected,
    branch_regex,
    overwrites: changes.mirror_overwrites_diverged_branches ?? row?.overwrites ?? null,
    trigger_builds: changes.mirror_trigger_builds ?? row?.trigger_builds ?? false,
    ...(isNew && started(time)),
    ...(!enabled && row?.enabled && { due_at: null, ...(row.status === 'scheduled' && { status: 'none' }) }),
    updated_at: time,
  };
  const written = row
    ? await tx
        .updateTable('mirrors')
        .set(columns)
        .where('id', '=', row.id)
        .returningAll()
        .executeTakeFirstOrThrow()
    : await tx
        .insertInto('mirrors')
        .values({ status: 'none', ...columns, project_id: subject.id, kind: 'pull', created_at: time })
        .returningAll()
        .executeTakeFirstOrThrow();
  await audit(tx, context, 'pull_mirror_updated', written);
  return written;
}

/** Sets where the project is pulled from; 400 for an address or pattern that is none. */
export async function setPullMirror(context: MirrorContext, changes: PullChanges): Promise<MirrorRow> {
  await requirePullChanges(context, changes);
  return inTransaction(context.services.database.db, (tx) => setSource(tx, context, changes, 'url'));
}

/** Has the project pulled soon, also where it was given up; 400 without a mirror. */
export async function askForPull({ services, settings, actor, subject }: MirrorContext): Promise<void> {
  requireAvailable(settings, actor);
  await inTransaction(services.database.db, async (tx) => {
    const row = await lockSource(tx, subject);
    if (!row?.enabled) throw badRequest('The project is not mirrored');
    const time = now();
    if (row.status === 'started' || row.status === 'scheduled') return;
    const due = requestedPullAt(row.last_update_started_at, time);
    await ahead(tx)
      .updateTable('mirrors')
      .set({ status: 'scheduled', due_at: due, failures: 0, is_told: false, updated_at: time })
      .where('id', '=', row.id)
      .execute();
  });
}

/** Where a new project comes from. */
export type Origin = { address: Address; changes: PullChanges };

/** Writes it with the project; it is brought at once. */
export async function insertSource(
  tx: Db,
  { secretKey }: Needs<'secretKey'>,
  projectId: number,
  userId: number,
  { address, changes }: Origin,
): Promise<void> {
  const time = now();
  await ahead(tx)
    .insertInto('mirrors')
    .values({
      ...started(time),
      project_id: projectId,
      kind: 'pull',
      enabled: changes.enabled ?? false,
      url: address.url,
      credentials_sealed: sealCredentials(secretKey, address.credentials),
      user_id: userId,
      only_protected: changes.only_mirror_protected_branches ?? null,
      branch_regex: changes.mirror_branch_regex || null,
      overwrites: changes.mirror_overwrites_diverged_branches ?? null,
      trigger_builds: changes.mirror_trigger_builds ?? false,
      created_at: time,
      updated_at: time,
    })
    .execute();
}
