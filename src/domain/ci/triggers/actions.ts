/** Makes trigger tokens, changes and deletes them. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import { auditedParent } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { forbidden } from '../../../platform/failure.ts';
import { digest, randomHex, seal } from '../../../platform/secret.ts';
import { countTriggers, lockTrigger, selectTrigger, type TriggerRow } from './queries.ts';
import { requirePlace, TOKEN_PREFIX } from './rules.ts';

type Context = { services: Needs<'database' | 'secretKey'>; actor: Actor; subject: AuthorizedProject };

const audit = (
  tx: Db,
  { actor, subject }: Context,
  event: 'created' | 'updated' | 'deleted',
  { id, description }: TriggerRow,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `pipeline_trigger_${event}`,
      details: { target_id: id, target_type: 'Ci::Trigger', target_details: description },
    },
  });

/** Makes a token of the caller's; 400 for one too many. */
export const createTrigger = (
  context: Context,
  { description, expires_at = null }: { description: string; expires_at?: string | null },
): Promise<TriggerRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { services, actor, subject } = context;
    await lockParent(tx, subject);
    requirePlace(await countTriggers(tx, subject));
    const token = `${TOKEN_PREFIX}${randomHex(20)}`;
    const time = now();
    const { id } = await tx
      .insertInto('trigger_tokens')
      .values({
        project_id: subject.id,
        owner_id: actor.id,
        token_sealed: seal(services.secretKey, token),
        digest: digest(token),
        description,
        expires_at: expires_at === null ? null : new Date(expires_at),
        created_at: time,
        updated_at: time,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const row = found(await selectTrigger(tx, subject, id), 'Trigger');
    await audit(tx, context, 'created', row);
    return row;
  });

/** Changes the description; 404 without the token, 403 for another's, unless an administrator asks. */
export const updateTrigger = (
  context: Context,
  id: number,
  { description }: { description?: string },
): Promise<TriggerRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { actor, subject } = context;
    const row = found(await lockTrigger(tx, subject, id), 'Trigger');
    if (row.owner_id !== actor.id && !actor.admin) throw forbidden();
    if (description === undefined || description === row.description) return row;
    const changes = { description, updated_at: now() };
    await ahead(tx).updateTable('trigger_tokens').set(changes).where('id', '=', id).execute();
    const changed = { ...row, ...changes };
    await audit(tx, context, 'updated', changed);
    return changed;
  });

/** Deletes the token, whoever's it is; 404 without it. */
export const deleteTrigger = (
  context: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = found(await lockTrigger(tx, context.subject, id), 'Trigger');
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('trigger_tokens').where('id', '=', id).execute();
    await audit(tx, context, 'deleted', row);
  });
