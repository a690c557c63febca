/** Changes whose jobs use a project by their tokens. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest, Failure } from '../../../platform/failure.ts';
import { type AllowedColumn, countAllowed, lockAllowed } from './queries.ts';

type Context = { services: Needs<'database'>; actor: Actor; subject: AuthorizedProject };

/** Projects and groups that one project lists, at most. */
const MAX_ALLOWED = 200;

/** The words of the public API for each kind. */
export const kinds = {
  allowed_project_id: { what: 'project', event: 'secure_ci_job_token_project', type: 'Project' },
  allowed_namespace_id: { what: 'group', event: 'secure_ci_job_token_group', type: 'Group' },
} as const satisfies Record<AllowedColumn, unknown>;

const audit = (
  tx: Db,
  { actor, subject }: Context,
  event: string,
  details: { target_id: number; target_type: string; target_details: string },
): Promise<void> =>
  announce(tx, { author: actor, audit: { entity: auditedParent(subject), event, details } });

/** Whether only the jobs of listed projects use the project by their tokens. */
export const restrict = (context: Context, listed: boolean): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject } = context;
    const [changed] = await tx
      .updateTable('projects')
      .set({ inbound_job_token_scope_enabled: listed, updated_at: now() })
      .where('id', '=', subject.id)
      .where('inbound_job_token_scope_enabled', '<>', listed)
      .returning('id')
      .execute();
    if (!changed) return;
    await audit(tx, context, `secure_ci_job_token_inbound_${listed ? 'enabled' : 'disabled'}`, {
      target_id: subject.id,
      target_type: 'Project',
      target_details: subject.fullPath,
    });
  });

/** 400 for what is listed already, 422 for one too many. */
export const allow = (
  context: Context,
  column: AllowedColumn,
  { id, fullPath }: { id: number; fullPath: string },
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject } = context;
    const { what, event, type } = kinds[column];
    const twice = `Target ${what} is already in the job token scope`;
    if (column === 'allowed_project_id' && id === subject.id) throw badRequest(twice);
    await lockParent(tx, subject);
    if (await lockAllowed(tx, subject, column, id)) throw badRequest(twice);
    if ((await countAllowed(tx, subject)) >= MAX_ALLOWED)
      throw new Failure(
        'unprocessable',
        `The job token allowlist has ${MAX_ALLOWED} entries, which is the limit`,
      );
    await ahead(tx)
      .insertInto('job_token_allowlist')
      .values({ project_id: subject.id, [column]: id, created_at: now() })
      .execute();
    await audit(tx, context, `${event}_added`, {
      target_id: id,
      target_type: type,
      target_details: fullPath,
    });
  });

/** False for what is not listed. */
export const disallow = (
  context: Context,
  column: AllowedColumn,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<boolean> =>
  inTransaction(context.services.database.db, async (tx) => {
    const entry = await lockAllowed(tx, context.subject, column, id);
    if (!entry) return false;
    unmodified(entry.created_at);
    await ahead(tx).deleteFrom('job_token_allowlist').where('id', '=', entry.id).execute();
    const { event, type } = kinds[column];
    await audit(tx, context, `${event}_removed`, {
      target_id: id,
      target_type: type,
      target_details: entry.full_path,
    });
    return true;
  });
