/** Changes notification settings, and the address, language and time zone of a user's mail. */

import { sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { ownAddresses } from '../../../kernel/identity/addresses/own-address-queries.ts';
import type { Language } from '../../../kernel/mail/texts.ts';
import type { Level } from '../../../kernel/namespaces/notification-levels.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import type { EventChanges } from './levels.ts';
import { timezones } from './locales.ts';
import { columnsOf, type Setting, type SettingScope, settingOf, unsaid } from './notification-settings.ts';
import { mailboxColumns, readSettings } from './queries.ts';

export type SettingChange = { level?: Level | undefined; events: EventChanges };

type MailboxChange = {
  /** Null or empty for the primary address; 400 for an address that the user has not confirmed. */
  notificationEmail?: string | null | undefined;
  notifiedOfOwn?: boolean | undefined;
  language?: Language | undefined;
  /** Null for UTC; 400 for an unknown name. */
  timezone?: string | null | undefined;
};

/** Changes the caller's setting of a project, group or all; returns it. */
export const changeSetting = (
  db: Db,
  actor: Actor,
  scope: SettingScope,
  change: SettingChange,
): Promise<Setting> => inTransaction(db, (tx) => writeSettings(tx, actor.id, scope, change));

/** Changes the caller's global setting, address, language and time zone in one transaction. */
export async function changeGlobal(
  db: Db,
  actor: Actor,
  change: SettingChange & MailboxChange,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await changeMailbox(tx, actor, change);
    await writeSettings(tx, actor.id, { kind: 'global' }, change);
  });
}

async function changeMailbox(tx: Db, actor: Actor, change: MailboxChange): Promise<void> {
  const { notificationEmail, notifiedOfOwn, language, timezone } = change;
  if ([notificationEmail, notifiedOfOwn, language, timezone].every((value) => value === undefined)) return;
  if (timezone && !timezones().includes(timezone))
    throw invalid({ timezone: ['is not included in the list'] });
  // The deletion of an address locks its user's row too, so it cannot be chosen meanwhile.
  const user = await tx
    .selectFrom('users')
    .select(['id', 'email', 'confirmed_at', ...mailboxColumns])
    .where('id', '=', actor.id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  const changed = {
    notification_email:
      notificationEmail === undefined
        ? user.notification_email
        : await chosenAddress(tx, user, notificationEmail),
    notified_of_own_activity: notifiedOfOwn ?? user.notified_of_own_activity,
    preferred_language: language ?? user.preferred_language,
    timezone: timezone === undefined ? user.timezone : timezone,
  };
  const names = mailboxColumns.filter((name) => changed[name] !== user[name]);
  if (names.length === 0) return;
  await ahead(tx).updateTable('users').set(changed).where('id', '=', actor.id).execute();
  await announce(tx, {
    author: actor,
    audit: {
      entity: { type: 'User', id: actor.id, path: actor.username },
      event: 'user_profile_updated',
      details: { change: names.join(', ') },
    },
  });
}

/** The stored address: null for the primary one, so that mail follows when that changes. */
async function chosenAddress(
  tx: Db,
  user: { id: number; email: string; confirmed_at: Date | null },
  chosen: string | null,
): Promise<string | null> {
  if (!chosen) return null;
  const own = (await ownAddresses(tx, user)).get(chosen.toLowerCase());
  if (own === undefined) throw invalid({ notification_email: ['is not an email you own'] });
  return own.toLowerCase() === user.email.toLowerCase() ? null : own;
}

/** Writes the given properties, keeps the others, and returns the setting; null removes a choice. */
export async function writeSettings(
  tx: Db,
  userId: number,
  scope: SettingScope,
  changes: { level?: Level | undefined; events: EventChanges },
): Promise<Setting> {
  const { level, events } = changes;
  if (level === undefined && Object.keys(events).length === 0) return readSettings(tx, userId, scope);
  const { project_id, namespace_id } = columnsOf(scope);
  const time = now();
  const given = sql`${JSON.stringify(events)}::text::jsonb`;
  const { rows } = await sql<{ level: string; events: unknown }>`
    insert into notification_settings as s (user_id, project_id, namespace_id, level, events, created_at, updated_at)
    values (${userId}, ${project_id}, ${namespace_id}, ${level ?? unsaid(scope).level}, jsonb_strip_nulls(${given}),
      ${time}, ${time})
    on conflict (user_id, project_id, namespace_id) do update set
      level = coalesce(${level ?? null}, s.level), events = jsonb_strip_nulls(s.events || ${given}), updated_at = ${time}
    returning s.level, s.events`.execute(tx);
  const [written] = rows;
  return written ? settingOf(written) : unsaid(scope);
}

/** Deletes the settings of a deleted user. */
export async function forgetSettings(tx: Db, userId: number): Promise<void> {
  await ahead(tx).deleteFrom('notification_settings').where('user_id', '=', userId).execute();
}
