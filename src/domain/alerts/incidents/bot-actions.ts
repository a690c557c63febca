/** The user that the program acts as on alerts and incidents. */

import { type Actor, actorColumns, toActor } from '../../../kernel/actor.ts';
import { internalUserId } from '../../../kernel/users/new-user-actions.ts';
import type { Db } from '../../../platform/db/database.ts';

/** The bot of alerts, created when first needed. It cannot sign in, and has no memberships. */
export async function alertBot(tx: Db): Promise<Actor> {
  const id = await internalUserId(tx, 'alert_bot');
  const user = await tx
    .selectFrom('users')
    .select(actorColumns)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return toActor({ ...user, kind: 'alert_bot' }, { via: 'password' });
}
