/** Creates and changes users. */

import { sql } from 'kysely';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { isLastAdministrator } from '../../../kernel/access/remaining-queries.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { type Actor, isInternal } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { type AvatarChange, keepAvatar } from '../../../kernel/files/pictures.ts';
import { confirmationRequested, newConfirmation } from '../../../kernel/identity/addresses/confirmation.ts';
import { ownAddresses } from '../../../kernel/identity/addresses/own-address-queries.ts';
import { noReset, requestReset } from '../../../kernel/identity/passwords/reset-actions.ts';
import { passwordProblems } from '../../../kernel/identity/passwords/rules.ts';
import { endAccess } from '../../../kernel/identity/session-actions.ts';
import { lockNamespace, moveNamespace, personalNamespace } from '../../../kernel/namespaces/path-actions.ts';
import { pathProblems } from '../../../kernel/namespaces/paths.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { passExternalOn } from '../../../kernel/users/bot-holder-actions.ts';
import { insertUser, newUserDefaults } from '../../../kernel/users/new-user-actions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { conflict, Failure, forbidden, invalid, type ValidationMessages } from '../../../platform/failure.ts';
import { hashPassword, randomText } from '../../../platform/secret.ts';
import { userEntity } from './audits.ts';
import { enterpriseColumns, profileColumns } from './columns.ts';
import { confirmationFact, releaseAddress, requireMailAddress } from './email-actions.ts';
import type { NewUserInput, UserChanges } from './inputs.ts';
import { profileProblems } from './rules.ts';

/** Prepared before the transaction: the picture, and the group named in the body. */
type UserChangeContext = {
  actor: Actor;
  settings: ApplicationSettings;
  secretKey: string;
  avatar: AvatarChange;
  group: AuthorizedGroup | undefined;
};

type Checked = { username?: string | undefined; password?: string | undefined } & Parameters<
  typeof profileProblems
>[0];

function requireValid(input: Checked, settings: ApplicationSettings): void {
  const problems: ValidationMessages = profileProblems(input);
  const username = input.username === undefined ? [] : pathProblems(input.username, 'top_level');
  const password = input.password === undefined ? [] : passwordProblems(input.password, settings);
  if (username.length > 0) problems.username = username;
  if (password.length > 0) problems.password = password;
  if (Object.keys(problems).length > 0) throw invalid(problems);
}

/** 409 when a user or a group has the name. Unique indexes decide between concurrent requests. */
export async function requireFreeUsername(tx: Db, username: string, userId = 0): Promise<void> {
  const name = username.toLowerCase();
  const { rows } = await sql`
    select from users where lower(username) collate "C" = ${name} and id <> ${userId}
    union all
    select from namespaces where lower(full_path) collate "C" = ${name} and owner_id is distinct from ${userId}`.execute(
    tx,
  );
  if (rows.length > 0) throw conflict('Username has already been taken');
}

const missingPassword = (): Failure =>
  new Failure('bad_request', '400 Bad request - "password" not given', {
    error:
      'password, reset_password, force_random_password are missing, at least one parameter must be provided',
  });

/** Creates a user by an administrator; returns the id. */
export async function createUser(db: Db, input: NewUserInput, settled: UserChangeContext): Promise<number> {
  const { actor, settings, secretKey, avatar, group } = settled;
  const random = input.reset_password === true || input.force_random_password === true;
  if (!random && input.password === undefined) throw missingPassword();
  requireValid(random ? { ...input, password: undefined } : input, settings);
  requireMailAddress(input.email);
  const confirmed = input.skip_confirmation === true || settings.email_confirmation_setting === 'off';
  const { confirmation_digest, token_sealed } = newConfirmation(secretKey);
  const password_hash = await hashPassword(random ? randomText(32) : (input.password ?? ''));
  const { private_profile, ...profile } = profileColumns(input, {}, new Set([input.email.toLowerCase()]));

  return inTransaction(db, async (tx) => {
    await releaseAddress(tx, actor, input.email);
    await requireFreeUsername(tx, input.username);
    const defaults = newUserDefaults(settings);
    const id = await insertUser(tx, {
      ...defaults,
      ...profile,
      private_profile: private_profile ?? defaults.private_profile,
      username: input.username,
      name: input.name,
      email: input.email,
      password_hash,
      password_changed_at: now(),
      confirmed_at: confirmed ? now() : null,
      confirmation_digest: confirmed ? null : confirmation_digest,
      avatar: (await keepAvatar(tx, avatar)) ?? null,
      created_by_id: actor.id,
      ...(group && enterpriseColumns(group)),
    });
    await setIdentity(tx, id, input);
    await announce(tx, {
      author: actor,
      audit: {
        entity: userEntity({ id, username: input.username }),
        event: 'user_created',
        details: { add: 'user', target_id: id, target_type: 'User', target_details: input.name },
      },
      ...(!confirmed && {
        fact: confirmationRequested(id, input.email, token_sealed),
      }),
    });
    if (input.reset_password === true) {
      await requestReset(tx, secretKey, { userId: id, email: input.email });
    }
    return id;
  });
}

/** Sets the user's identity at another provider: both parts, or neither. */
async function setIdentity(
  tx: Db,
  user_id: number,
  input: Pick<UserChanges, 'extern_uid' | 'provider'>,
): Promise<void> {
  const { extern_uid, provider } = input;
  if (!extern_uid || !provider) return;
  await ahead(tx)
    .insertInto('identities')
    .values({ user_id, extern_uid, provider })
    .onConflict((on) => on.columns(['user_id', 'provider']).doUpdateSet({ extern_uid }))
    .execute();
}

/** Changes with an audit event of their own; the rest share one. */
const audited: Partial<Record<string, string>> = {
  username: 'user_username_updated',
  name: 'user_name_updated',
  email: 'user_email_updated',
  admin: 'user_access_level_updated',
  auditor: 'user_auditor_status_updated',
  external: 'user_external_status_updated',
  password_hash: 'user_password_updated',
};
/** Columns whose change is audited without values. */
const untold = new Set([
  'password_hash',
  'password_changed_at',
  'confirmation_digest',
  'reset_digest',
  'reset_sent_at',
]);

type UserRecordRow = Record<string, unknown> & { id: number; username: string };

async function announceChanges(
  tx: Db,
  actor: Actor,
  before: UserRecordRow,
  changes: Record<string, unknown>,
) {
  const entity = userEntity(before);
  const changed = Object.keys(changes).filter((name) => changes[name] !== before[name]);
  for (const name of changed) {
    const event = audited[name];
    if (event === undefined) continue;
    const told = untold.has(name) ? {} : { from: String(before[name]), to: String(changes[name]) };
    const payload = { user_id: before.id, old_username: before.username };
    await announce(tx, {
      author: actor,
      audit: { entity, event, details: { change: name, ...told } },
      ...(name === 'username' && { fact: { name: 'user_renamed', payload } }),
    });
  }
  const rest = changed.filter((name) => !(name in audited) && !untold.has(name));
  if (rest.length === 0) return;
  const details = { change: rest.join(', ') };
  await announce(tx, { author: actor, audit: { entity, event: 'user_profile_updated', details } });
}

/**
 * Changes a user; omitted properties stay. A new username also renames the personal namespace and its
 * projects.
 */
export async function updateUser(
  db: Db,
  userId: number,
  input: UserChanges,
  settled: UserChangeContext,
): Promise<void> {
  const { actor, settings, secretKey, avatar, group } = settled;
  requireValid(input, settings);
  if (input.email !== undefined) requireMailAddress(input.email);
  const password_hash = input.password === undefined ? undefined : await hashPassword(input.password);
  const confirmation = newConfirmation(secretKey);
  // Administrators can vouch for an address; group owners cannot.
  const atOnce =
    actor.admin && (input.skip_reconfirmation === true || settings.email_confirmation_setting === 'off');

  await inTransaction(db, async (tx) => {
    if (input.admin === false && (await isLastAdministrator(tx, userId)))
      throw invalid({ admin: ['must stay with somebody: there is no other active administrator'] });
    const before = await tx
      .selectFrom('users')
      .selectAll()
      .where('id', '=', userId)
      .where('deletion', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (!before || isInternal(before.kind)) throw forbidden();
    const newEmail =
      input.email !== undefined && input.email.toLowerCase() !== before.email.toLowerCase()
        ? input.email
        : undefined;
    const holder = newEmail === undefined ? undefined : await releaseAddress(tx, actor, newEmail, userId);
    if (input.username !== undefined) await requireFreeUsername(tx, input.username, userId);
    if (newEmail !== undefined && atOnce) await confirmPrimary(tx, userId, newEmail);
    const own = input.public_email || input.commit_email ? await ownAddresses(tx, before) : new Set<string>();
    const { private_profile, ...profile } = profileColumns(input, before.preferences, own);
    const changes = {
      ...profile,
      ...(input.private_profile !== undefined && {
        private_profile: private_profile ?? settings.user_defaults_to_private_profile,
      }),
      ...(input.name !== undefined && { name: input.name }),
      ...(input.username !== undefined && { username: input.username }),
      ...(newEmail !== undefined &&
        (atOnce
          ? { email: newEmail, unconfirmed_email: null, ...noReset }
          : {
              unconfirmed_email: newEmail,
              confirmation_digest: holder === undefined ? confirmation.confirmation_digest : null,
            })),
      ...(password_hash !== undefined && { password_hash, password_changed_at: now(), ...noReset }),
      ...(avatar !== undefined && { avatar: await keepAvatar(tx, avatar) }),
      ...(group && enterpriseColumns(group)),
    };
    await ahead(tx)
      .updateTable('users')
      .set({ ...changes, updated_at: now() })
      .where('id', '=', userId)
      .execute();
    if (changes.external !== undefined) await passExternalOn(tx, userId, changes.external);
    await setIdentity(tx, userId, input);
    await moveOwnNamespace(tx, userId, input);
    // Sessions and tokens end with the old password.
    if (password_hash !== undefined) await endAccess(tx, userId);
    await announceChanges(tx, actor, before, changes);
    if (newEmail !== undefined && !atOnce) {
      const fact = confirmationFact(userId, newEmail, confirmation.token_sealed, holder);
      await announce(tx, { author: actor, fact });
    }
  });
}

/** Makes the address the confirmed primary one; the former primary address stays a secondary one. */
async function confirmPrimary(tx: Db, userId: number, email: string): Promise<void> {
  const time = now();
  const known = await tx
    .updateTable('emails')
    .set({ confirmed_at: time, confirmation_digest: null, held_elsewhere: false, updated_at: time })
    .where('user_id', '=', userId)
    .where(sql<boolean>`lower(email) collate "C" = ${email.toLowerCase()}`)
    .returning('id')
    .executeTakeFirst();
  if (known) return;
  await ahead(tx)
    .insertInto('emails')
    .values({ user_id: userId, email, confirmed_at: time, created_at: time, updated_at: time })
    .execute();
}

async function moveOwnNamespace(
  tx: Db,
  userId: number,
  input: Pick<UserChanges, 'name' | 'username'>,
): Promise<void> {
  if (input.name === undefined && input.username === undefined) return;
  const row = await lockNamespace(tx, personalNamespace(userId));
  if (!row) return;
  const path = input.username ?? row.path;
  await moveNamespace(tx, row, { parent: undefined, path, name: input.name ?? row.name });
}

/** Sets the actor's picture, or removes it. */
export const changeAvatar = (db: Db, actor: Actor, avatar: AvatarChange) =>
  inTransaction(db, async (tx) => {
    const changed = await tx
      .updateTable('users')
      .set({ avatar: (await keepAvatar(tx, avatar)) ?? null, updated_at: now() })
      .where('id', '=', actor.id)
      .where('deletion', 'is', null)
      .returning(['id', 'username', 'avatar', 'email'])
      .executeTakeFirst();
    const user = found(changed, 'User');
    const audit = {
      entity: userEntity(user),
      event: 'user_profile_updated',
      details: { change: 'avatar' },
    };
    await announce(tx, { author: actor, audit });
    return user;
  });
