/**
 * Users and their keys, as the hooks of the instance are told of them (facts-merge-requests: 10.7). Only administrators have such
 * hooks: they are told the addresses that nobody else is.
 */
import { ALWAYS, type HookEvent, type HookServices, hookSource, namedEvents } from '../hooks/index.ts';
import { selectUserSnapshot } from './hook-queries.ts';

type UserSnapshot = {
  id: number;
  name: string;
  email: string;
  username: string;
  created_at: Date | string;
  updated_at: Date | string;
};
/** `gone` is what a user was who is deleted. */
type UserFact = { user_id: number; gone?: UserSnapshot; old_username?: string; state?: string };

async function userEvents(
  services: HookServices,
  { user_id, gone, old_username, state }: UserFact,
  name: string,
): Promise<HookEvent[]> {
  const user = gone ?? (await selectUserSnapshot(services.database.background, user_id));
  if (!user) return [];
  return namedEvents(name, user, {
    name: user.name,
    email: user.email,
    user_id: user.id,
    username: user.username,
    ...(old_username !== undefined && { old_username }),
    ...(state !== undefined && { state }),
  });
}

/** The names of the events of facts. */
const userEventNames = {
  user_created: 'user_create',
  user_renamed: 'user_rename',
  user_destroyed: 'user_destroy',
  blocked_user_refused: 'user_failed_login',
};

export const userHooks = Object.entries(userEventNames).map(([fact, name]) =>
  hookSource<UserFact>({
    fact,
    flags: [ALWAYS],
    eventsOf: (services, told) => userEvents(services, told, name),
  }),
);

type KeyFact = { key: { id: number; key: string; username: string; created_at: string; updated_at: string } };

const keyEventNames = { ssh_key_created: 'key_create', ssh_key_destroyed: 'key_destroy' };

export const keyHooks = Object.entries(keyEventNames).map(([fact, name]) =>
  hookSource<KeyFact>({
    fact,
    flags: [ALWAYS],
    eventsOf: async (_, { key: told }) =>
      namedEvents(name, told, { username: told.username, key: told.key, id: told.id }),
  }),
);
