/** Makes freeze periods, changes and deletes them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { countPeriods, type FreezeRow, lockPeriod } from './queries.ts';
import { type Freeze, requirePlace, requireTimes } from './rules.ts';

type Context = { services: Needs<'database'>; actor: Actor; subject: AuthorizedProject };

const audit = (
  tx: Db,
  { actor, subject }: Context,
  event: 'created' | 'updated' | 'deleted',
  { id, freeze_start, freeze_end }: FreezeRow,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `freeze_period_${event}`,
      details: {
        target_id: id,
        target_type: 'Ci::FreezePeriod',
        target_details: `${freeze_start} to ${freeze_end}`,
      },
    },
  });

/** 400 for patterns and zones that there are not, or one period too many. */
export const createPeriod = (context: Context, freeze: Freeze): Promise<FreezeRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject } = context;
    const time = now();
    requireTimes(freeze, time);
    await lockParent(tx, subject);
    requirePlace(await countPeriods(tx, subject));
    const row = await tx
      .insertInto('freeze_periods')
      .values({ ...freeze, project_id: subject.id, created_at: time, updated_at: time })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'created', row);
    return row;
  });

/** Changes what the request names; 404 without the period, 400 as for new ones. */
export const updatePeriod = (context: Context, id: number, changes: Partial<Freeze>): Promise<FreezeRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = found(await lockPeriod(tx, context.subject, id), 'Freeze Period');
    const changed = { ...row, ...changes, updated_at: now() };
    requireTimes(changed, changed.updated_at);
    await ahead(tx)
      .updateTable('freeze_periods')
      .set({ ...changes, updated_at: changed.updated_at })
      .where('id', '=', id)
      .execute();
    await audit(tx, context, 'updated', changed);
    return changed;
  });

/** 404 without the period. */
export const deletePeriod = (
  context: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = found(await lockPeriod(tx, context.subject, id), 'Freeze Period');
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('freeze_periods').where('id', '=', id).execute();
    await audit(tx, context, 'deleted', row);
  });
