/** The user in whose name the program itself works on alerts and incidents. */
import type { Db } from '../../platform/db/database.ts';
import type { Actor } from '../identity/actor.ts';
import { internalUserId } from '../identity/new-user.ts';

/** The bot of alerts, made at first need. Nobody can sign in as it, and it is a member of nothing. */
export async function alertBot(tx: Db): Promise<Actor> {
  const id = await internalUserId(tx, 'alert_bot');
  const user = await tx
    .selectFrom('users')
    .select(['username', 'name'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return {
    ...user,
    id,
    kind: 'alert_bot',
    admin: false,
    auditor: false,
    external: false,
    credential: { via: 'password' },
  };
}
