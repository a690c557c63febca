/** Notification settings of the caller: for everything, for a group and for a project (spec: Notification settings). */
import { onGroup, onProject, signedIn } from '../../../kernel/access/access.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { changeGlobal, changeSetting, type SettingChange } from './actions.ts';
import { chosenEvents, type EventChanges, isLevel, shownChoices } from './levels.ts';
import type { Setting } from './notification-settings.ts';
import { readSettings, selectMailbox } from './queries.ts';
import { GlobalChanges, GlobalSetting, ScopeSetting, SettingChanges } from './schema.ts';

/** The setting of a group or project; its events only at the level `custom`. */
const presentSetting = ({ config }: Needs<'config'>, { level, events }: Setting): ScopeSetting => ({
  level,
  ...(level === 'custom' && { events: shownChoices(events, config.tier) }),
});

async function presentGlobal(db: Db, { id }: Actor): Promise<GlobalSetting> {
  const [{ level }, mailbox] = await Promise.all([
    readSettings(db, id, { kind: 'global' }),
    selectMailbox(db, id),
  ]);
  return { level, notification_email: mailbox.notification_email ?? mailbox.email };
}

/**
 * The change in the parameters; 400 for an unknown level. Events of epics are ignored in tiers without epics.
 */
function changesOf({ config }: Needs<'config'>, { level, ...given }: SettingChanges): SettingChange {
  if (level !== undefined && !isLevel(level))
    throw new Failure('bad_request', `'${level}' is not a valid level`);
  const events: EventChanges = {};
  for (const event of chosenEvents) {
    const choice = given[event];
    if (choice !== undefined && (event !== 'new_epic' || config.tier !== 'free')) events[event] = choice;
  }
  return { level, events };
}

export const settingsEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/notification_settings',
    summary: 'How much the caller hears of by mail where nothing else is said, and at which address.',
    access: signedIn,
    reply: GlobalSetting,
    handle: ({ db, actor }) => presentGlobal(db, actor),
  }),
  endpoint({
    method: 'PUT',
    path: '/notification_settings',
    summary: 'Changes how much the caller hears of by mail where nothing else is said, and at which address.',
    access: signedIn,
    input: GlobalChanges,
    reply: GlobalSetting,
    async handle({ db, services, actor, input }) {
      const { notification_email, ...given } = input;
      await changeGlobal(db, actor, {
        ...changesOf(services, given),
        notificationEmail: notification_email,
      });
      return presentGlobal(db, actor);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/groups/:id/notification_settings',
    summary: 'How much the caller hears of what happens in a group.',
    access: onGroup('choose_notifications'),
    reply: ScopeSetting,
    handle: async ({ db, services, actor, subject }) =>
      presentSetting(services, await readSettings(db, actor.id, { kind: 'group', id: subject.id })),
  }),
  endpoint({
    method: 'PUT',
    path: '/groups/:id/notification_settings',
    summary: 'Changes how much the caller hears of what happens in a group.',
    access: onGroup('choose_notifications'),
    input: SettingChanges,
    reply: ScopeSetting,
    async handle({ db, services, actor, subject, input }) {
      const change = changesOf(services, input);
      return presentSetting(
        services,
        await changeSetting(db, actor, { kind: 'group', id: subject.id }, change),
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/notification_settings',
    summary: 'How much the caller hears of what happens in a project.',
    access: onProject('choose_notifications'),
    reply: ScopeSetting,
    handle: async ({ db, services, actor, subject }) =>
      presentSetting(services, await readSettings(db, actor.id, { kind: 'project', id: subject.id })),
  }),
  endpoint({
    method: 'PUT',
    path: '/projects/:id/notification_settings',
    summary: 'Changes how much the caller hears of what happens in a project.',
    access: onProject('choose_notifications'),
    input: SettingChanges,
    reply: ScopeSetting,
    async handle({ db, services, actor, subject, input }) {
      const change = changesOf(services, input);
      return presentSetting(
        services,
        await changeSetting(db, actor, { kind: 'project', id: subject.id }, change),
      );
    },
  }),
];
