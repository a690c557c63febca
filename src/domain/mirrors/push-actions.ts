/** Makes mirrors that a project is pushed to, changes and deletes them, and asks for pushes. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { lockProject } from '../../kernel/access/own-row-queries.ts';
import { found } from '../../kernel/api/endpoint.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { badRequest, invalid } from '../../platform/failure.ts';
import { sealCredentials } from './credentials.ts';
import { countPushMirrors, lockPushMirror, type MirrorRow } from './queries.ts';
import { pushAt } from './rules.ts';
import type { CreateRemoteMirror, PushChanges } from './schema.ts';
import {
  audit,
  type MirrorContext,
  requireAddress,
  requireAvailable,
  requirePattern,
} from './shared-actions.ts';

/** Push mirrors of a project that are on, and all of them (facts: packages §5.2). */
const MAX_ENABLED = 10;
const MAX_MIRRORS = 50;

/** The columns of a push mirror that a request changes. */
function pushColumns(changes: PushChanges) {
  if (changes.auth_method === 'ssh_public_key')
    throw invalid({
      auth_method: ['ssh_public_key is not supported: use password, with an address by http or https'],
    });
  return {
    ...(changes.enabled !== undefined && { enabled: changes.enabled }),
    ...(changes.keep_divergent_refs !== undefined && { overwrites: !changes.keep_divergent_refs }),
    ...(changes.only_protected_branches !== undefined && { only_protected: changes.only_protected_branches }),
    ...(changes.mirror_branch_regex !== undefined && { branch_regex: changes.mirror_branch_regex || null }),
  };
}

function requireOneFilter({
  only_protected,
  branch_regex,
}: Pick<MirrorRow, 'only_protected' | 'branch_regex'>): void {
  if (only_protected && branch_regex !== null)
    throw invalid({ mirror_branch_regex: ['cannot be set with only_protected_branches'] });
}

/** Makes a mirror that the project is pushed to; 400 for an address that cannot be, and one too many. */
export async function createPushMirror(
  context: MirrorContext,
  { url, ...changes }: CreateRemoteMirror,
): Promise<MirrorRow> {
  const { services, settings, actor, subject } = context;
  requireAvailable(settings, actor);
  await requirePattern(changes.mirror_branch_regex);
  const address = requireAddress(settings, url, 'url');
  const time = now();
  const values = {
    enabled: false,
    overwrites: true,
    only_protected: false,
    branch_regex: null,
    ...pushColumns(changes),
  };
  requireOneFilter(values);
  return inTransaction(services.database.db, async (tx) => {
    await lockProject(tx, subject.id);
    await requireRoom(tx, subject, values.enabled);
    const row = await tx
      .insertInto('mirrors')
      .values({
        ...values,
        project_id: subject.id,
        kind: 'push',
        url: address.url,
        credentials_sealed: sealCredentials(services.secretKey, address.credentials),
        user_id: actor.id,
        status: 'none',
        created_at: time,
        updated_at: time,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'push_mirror_created', row);
    return row;
  });
}

/** 400 where the project has as many as it may; `added` of them are on. */
async function requireRoom(
  tx: Db,
  subject: AuthorizedProject,
  isEnabled: boolean,
  isNew = true,
): Promise<void> {
  const { all, enabled } = await countPushMirrors(tx, subject);
  if (isNew && all >= MAX_MIRRORS)
    throw invalid({ base: [`Maximum number of push mirrors (${MAX_MIRRORS}) exceeded`] });
  if (isEnabled && enabled >= MAX_ENABLED)
    throw invalid({ base: [`Maximum number of enabled push mirrors (${MAX_ENABLED}) exceeded`] });
}

/** Changes what the request names; 404 without the mirror. */
export async function updatePushMirror(
  context: MirrorContext,
  id: number,
  changes: PushChanges,
): Promise<MirrorRow> {
  const { services, settings, actor, subject } = context;
  requireAvailable(settings, actor);
  await requirePattern(changes.mirror_branch_regex);
  return inTransaction(services.database.db, async (tx) => {
    await lockProject(tx, subject.id);
    const row = found(await lockPushMirror(tx, subject, id), 'Remote Mirror');
    const columns = pushColumns(changes);
    requireOneFilter({ ...row, ...columns });
    if (columns.enabled && !row.enabled) await requireRoom(tx, subject, true, false);
    const written = await tx
      .updateTable('mirrors')
      .set({ ...columns, ...(columns.enabled === false && { due_at: null }), updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'push_mirror_updated', written);
    return written;
  });
}

/** Deletes the mirror; what runs of it ends some seconds later. */
export const deletePushMirror = (
  context: MirrorContext,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    requireAvailable(context.settings, context.actor);
    const row = found(await lockPushMirror(tx, context.subject, id), 'Remote Mirror');
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('mirrors').where('id', '=', id).execute();
    await audit(tx, context, 'push_mirror_deleted', row);
  });

/** Has the mirror pushed to now; 400 where it is off or runs. */
export const askForPush = (context: MirrorContext, id: number): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    requireAvailable(context.settings, context.actor);
    const row = found(await lockPushMirror(tx, context.subject, id), 'Remote Mirror');
    if (!row.enabled) throw badRequest('Mirror is disabled');
    if (row.status === 'started') throw badRequest('Mirror is already being updated');
    const time = now();
    await ahead(tx)
      .updateTable('mirrors')
      .set({ due_at: time, failures: 0, updated_at: time })
      .where('id', '=', id)
      .execute();
  });

/** After a push to the project, those that it goes on to are due. */
export async function askForPushes(db: Db, projectId: number): Promise<void> {
  await inTransaction(db, async (tx) => {
    const rows = await tx
      .selectFrom('mirrors')
      .select(['id', 'status', 'due_at', 'only_protected', 'last_update_started_at'])
      .where('project_id', '=', projectId)
      .where('kind', '=', 'push')
      .where('enabled', '=', true)
      .forUpdate()
      .execute();
    const time = now();
    for (const { id, status, due_at, only_protected, last_update_started_at: startedAt } of rows) {
      const next = pushAt({ startedAt, onlyProtected: only_protected ?? false }, time);
      // The run that is under way may have read the refs before.
      if (status !== 'started' && due_at !== null && due_at <= next) continue;
      await tx.updateTable('mirrors').set({ due_at: next }).where('id', '=', id).execute();
    }
  });
}
