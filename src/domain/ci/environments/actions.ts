/** Makes environments, changes, stops and deletes them. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, inTransaction } from '../../../platform/db/database.ts';
import { Failure, forbidden, invalid, type ValidationMessages } from '../../../platform/failure.ts';
import { protects, requireDeployer } from '../protected-environments/deployer-queries.ts';
import { insertEnvironment } from './insert-actions.ts';
import { type EnvironmentRow, lockEnvironment, selectEnvironment, selectReviewApps } from './queries.ts';
import { addressProblems, nameProblems } from './rules.ts';
import type { CreateEnvironment, EnvironmentChanges } from './schema.ts';
import { stop } from './stop-actions.ts';

export type Context = { services: Needs<'database' | 'config'>; actor: Actor; subject: AuthorizedProject };

export function refuse(...messages: ValidationMessages[]): void {
  const all = Object.assign({}, ...messages);
  if (Object.keys(all).length > 0) throw invalid(all);
}

const SLUG_REFUSED = 'slug is automatically generated and cannot be changed';

/** 400 for a slug of the client's. */
function refuseSlug(slug: string | undefined): void {
  if (slug !== undefined) throw new Failure('bad_request', SLUG_REFUSED, { error: SLUG_REFUSED });
}

/** Makes an environment; 400 for a name or address that it cannot have, or a name that is taken. */
export async function createEnvironment(
  { services, subject }: Context,
  { slug, ...input }: CreateEnvironment,
): Promise<EnvironmentRow> {
  refuseSlug(slug);
  refuse(nameProblems(input.name), addressProblems(input.external_url));
  const row = await insertEnvironment(services.database.db, subject, input);
  if (!row) throw invalid({ name: ['has already been taken'] });
  return row;
}

/** Changes what the request names; 404 without the environment, 403 for a protected one, whose tier says who deploys to it. */
export const updateEnvironment = (
  context: Context,
  id: number,
  { slug, ...changes }: EnvironmentChanges,
): Promise<EnvironmentRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    refuseSlug(slug);
    refuse(addressProblems(changes.external_url));
    const row = found(await lockEnvironment(tx, context.subject, id), 'Environment');
    await requireDeployer(tx, context, row);
    const changed = { ...row, ...changes, updated_at: now() };
    await ahead(tx)
      .updateTable('environments')
      .set({ ...changes, updated_at: changed.updated_at })
      .where('id', '=', id)
      .execute();
    return changed;
  });

/** Stops an environment, by the jobs that do it where it has any; one that is stopped stays so. 404 without it, 403 for a
 * protected one. */
export async function stopEnvironment(context: Context, id: number, force: boolean): Promise<EnvironmentRow> {
  const { services, actor, subject } = context;
  const { db } = services.database;
  const row = found(await selectEnvironment(db, subject, id), 'Environment');
  await requireDeployer(db, context, row);
  await inTransaction(db, (tx) => stop(tx, id, { starter: actor.id, force }));
  return found(await selectEnvironment(db, subject, id), 'Environment');
}

/** Deletes an environment that is stopped, with its deployments; 403 for another one, 404 without it. */
export const deleteEnvironment = (
  context: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = found(await lockEnvironment(tx, context.subject, id), 'Environment');
    await requireDeployer(tx, context, row);
    unmodified(row.updated_at);
    if (row.state !== 'stopped') throw forbidden();
    await ahead(tx).deleteFrom('environments').where('id', '=', id).execute();
  });

/** Those to which nothing was deployed since stop at the next round of the clock, but protected ones. */
export async function stopStale({ services, subject }: Context, before: Date): Promise<void> {
  const time = now();
  await sql`
    update environments e set auto_stop_at = ${time}, updated_at = ${time}
    where e.project_id = ${subject.id} and e.state = 'available' and e.created_at < ${before}
      and not (${protects(services)}::boolean and exists (select from protected_environments p
        where p.project_id = e.project_id and p.name = e.name
          or p.namespace_id = any(${subject.row.ancestor_ids}::bigint[]) and p.name = e.tier))
      and not exists (select from deployments d where d.environment_id = e.id and d.created_at >= ${before})`.execute(
    services.database.db,
  );
}

const WEEK_MS = 7 * 86_400_000;

/** Review apps that are stopped go in a week; returns them. */
export async function deleteReviewApps(
  { services, subject }: Context,
  { before, limit, dryRun }: { before: Date; limit: number; dryRun: boolean },
): Promise<EnvironmentRow[]> {
  const { db } = services.database;
  const rows = await selectReviewApps(db, subject, before, limit);
  if (!dryRun && rows.length > 0)
    await db
      .updateTable('environments')
      .set({ auto_delete_at: new Date(now().getTime() + WEEK_MS) })
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .where('state', '=', 'stopped')
      .execute();
  return rows;
}
