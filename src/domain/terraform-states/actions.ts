/** Locks, writes and deletes states; what is in one is sealed, since it has secrets. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { auditedParent } from '../../kernel/access/resource-parents.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { Failure } from '../../platform/failure.ts';
import { seal } from '../../platform/secret.ts';
import { keepState, lockState, type StateRow, selectVersion } from './queries.ts';
import { isHeldByOther, type Lock } from './rules.ts';

type Context = { db: Db; services: Needs<'secretKey'>; actor: Actor; subject: AuthorizedProject };

/** 423 for who does not hold the lock of the state. */
function requireLock({ lock }: StateRow, id: string | undefined): void {
  if (isHeldByOther(lock, id)) throw new Failure('locked', `423 Locked - by ${lock?.ID}`);
}

const setLock = (tx: Db, { id }: StateRow, lock: Lock | null) =>
  ahead(tx)
    .updateTable('terraform_states')
    .set({ lock: lock === null ? null : sql`${JSON.stringify(lock)}::text::jsonb`, updated_at: now() })
    .where('id', '=', id)
    .execute();

/** The lock that was there already, if there was one: then nothing has changed. */
export const takeLock = ({ db, subject }: Context, name: string, lock: Lock): Promise<Lock | undefined> =>
  inTransaction(db, async (tx) => {
    const state = found(await keepState(tx, subject, name), 'Project');
    if (state.lock) return state.lock;
    await setLock(tx, state, lock);
    return undefined;
  });

/** The lock of somebody else, if the id is not its own; without an id the lock is ended, whoever has it. 404 without the state. */
export const endLock = (
  { db, subject }: Context,
  name: string,
  id: string | undefined,
  unmodified: (updatedAt: Date) => void,
): Promise<Lock | undefined> =>
  inTransaction(db, async (tx) => {
    const state = found(await lockState(tx, subject, name), 'State');
    unmodified(state.updated_at);
    if (state.lock && id !== undefined && isHeldByOther(state.lock, id)) return state.lock;
    await setLock(tx, state, null);
    return undefined;
  });

/** A serial number that comes again takes the place of the one before. */
export const writeState = (
  { db, services, subject }: Context,
  name: string,
  { text, serial, lockId }: { text: string; serial: number; lockId: string | undefined },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const state = found(await keepState(tx, subject, name), 'Project');
    requireLock(state, lockId);
    await ahead(tx)
      .deleteFrom('terraform_state_versions')
      .where('state_id', '=', state.id)
      .where('serial', '=', serial)
      .execute();
    await ahead(tx)
      .updateTable('terraform_states')
      .set({ updated_at: now() })
      .where('id', '=', state.id)
      .execute();
    await ahead(tx)
      .insertInto('terraform_state_versions')
      .values({
        state_id: state.id,
        serial,
        content: seal(services.secretKey, text),
        created_at: now(),
      })
      .execute();
  });

const audit = (tx: Db, { actor, subject }: Context, { id, name }: StateRow, details: string): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: 'terraform_state_destroyed',
      details: { target_id: id, target_type: 'Terraform::State', target_details: `${name}${details}` },
    },
  });

export const deleteState = (
  context: Context,
  name: string,
  lockId: string | undefined,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const state = found(await lockState(tx, context.subject, name), 'State');
    unmodified(state.updated_at);
    requireLock(state, lockId);
    await ahead(tx).deleteFrom('terraform_states').where('id', '=', state.id).execute();
    await audit(tx, context, state, '');
  });

export const deleteVersion = (
  context: Context,
  name: string,
  serial: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const state = found(await lockState(tx, context.subject, name), 'State');
    const version = found(await selectVersion(tx, state, serial), 'State Version');
    unmodified(version.created_at);
    requireLock(state, undefined);
    await ahead(tx).deleteFrom('terraform_state_versions').where('id', '=', version.id).execute();
    await audit(tx, context, state, ` ${serial}`);
  });
