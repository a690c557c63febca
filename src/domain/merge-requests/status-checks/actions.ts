/** Makes external status checks of projects, changes and deletes them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import { seal } from '../../../platform/secret.ts';
import { lockRules, selectBranchesAmong } from '../approval-rules/queries.ts';
import { countChecks, selectCheck } from './queries.ts';
import { addressProblem } from './rules.ts';
import type { CheckChanges, CreateCheck } from './schema.ts';

/** Of one project: a merge request waits for each, and each gets a request at each change. */
const MAX_CHECKS = 20;

export type CheckContext = {
  services: Needs<'database' | 'secretKey'>;
  actor: Actor;
  subject: AuthorizedProject;
};

const audit = (
  tx: Db,
  { actor, subject }: CheckContext,
  event: 'created' | 'updated' | 'deleted',
  { id, name, external_url }: { id: number; name: string; external_url: string },
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'Project', id: subject.id, path: subject.fullPath },
      event: `external_status_check_${event}`,
      details: { target_id: id, target_type: 'ExternalStatusCheck', target_details: name, external_url },
    },
  });

/** The columns of what the request names; 400 for an address that no request may go to. */
function columnsOf({ services }: CheckContext, { name, external_url, shared_secret }: CheckChanges) {
  const problem = external_url === undefined ? undefined : addressProblem(external_url);
  if (problem) throw invalid({ external_url: [problem] });
  return {
    ...(name !== undefined && { name }),
    ...(external_url !== undefined && { external_url }),
    ...(shared_secret !== undefined && {
      shared_secret_sealed: shared_secret ? seal(services.secretKey, shared_secret) : null,
    }),
  };
}

/** Writes the branches in place of those before; 400 for another project's. */
async function writeBranches(
  tx: Db,
  project: AuthorizedProject,
  checkId: number,
  ids: readonly number[] | undefined,
): Promise<void> {
  if (ids === undefined) return;
  const wanted = [...new Set(ids)].filter((id) => id !== 0);
  const own = await selectBranchesAmong(tx, project.id, wanted);
  if (own.length < wanted.length) throw invalid({ protected_branches: ["must be the project's"] });
  await ahead(tx).deleteFrom('external_status_check_branches').where('check_id', '=', checkId).execute();
  const rows = own.map((id) => ({ check_id: checkId, protected_branch_id: id }));
  if (rows.length > 0) await ahead(tx).insertInto('external_status_check_branches').values(rows).execute();
}

/** Makes a check and returns its id; 400 for an address that is refused, and for one check too many. */
export const createCheck = (context: CheckContext, input: CreateCheck): Promise<number> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject } = context;
    const columns = columnsOf(context, input);
    await lockRules(tx, subject);
    if ((await countChecks(tx, subject)) >= MAX_CHECKS)
      throw invalid({ base: [`has ${MAX_CHECKS} external status checks already`] });
    const time = now();
    const { name, external_url } = input;
    const { id } = await tx
      .insertInto('external_status_checks')
      .values({ ...columns, name, external_url, project_id: subject.id, created_at: time, updated_at: time })
      .returning('id')
      .executeTakeFirstOrThrow();
    await writeBranches(tx, subject, id, input.protected_branch_ids);
    await audit(tx, context, 'created', { id, name, external_url });
    return id;
  });

/** Changes what the request names; 404 without the check. */
export const updateCheck = (context: CheckContext, id: number, changes: CheckChanges): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject } = context;
    const columns = columnsOf(context, changes);
    await lockRules(tx, subject);
    const check = found(await selectCheck(tx, subject, id));
    await tx
      .updateTable('external_status_checks')
      .set({ ...columns, updated_at: now() })
      .where('id', '=', id)
      .execute();
    await writeBranches(tx, subject, id, changes.protected_branch_ids);
    await audit(tx, context, 'updated', { ...check, ...columns });
  });

/** Deletes the check with its responses; 404 without it. */
export const deleteCheck = (
  context: CheckContext,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject } = context;
    await lockRules(tx, subject);
    const check = found(await selectCheck(tx, subject, id));
    unmodified(check.updated_at);
    await ahead(tx).deleteFrom('external_status_checks').where('id', '=', id).execute();
    await audit(tx, context, 'deleted', check);
  });
