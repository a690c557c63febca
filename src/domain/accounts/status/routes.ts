/** Endpoints of status and preferences. An expired status is not shown, so no task clears it. */
import Type, { type Static } from 'typebox';
import { onUser, signedIn } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { invalid } from '../../../platform/failure.ts';
import { nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { readScopes } from '../users/routes.ts';
import { changePreferences, saveStatus, selectOwn } from './actions.ts';
import { clearingTimes, presentStatus, statusFrom } from './status.ts';

const UserStatus = Type.Object({
  emoji: nullable(Type.String()),
  message: nullable(Type.String()),
  availability: nullable(Type.String()),
  message_html: Type.String(),
  clear_status_at: nullable(Type.String()),
});

const StatusInput = Type.Object({
  emoji: Type.Optional(
    nullable(
      Type.String({ maxLength: 64, ruled: { format: 'emoji-name' }, description: 'The name of an emoji.' }),
    ),
  ),
  message: Type.Optional(nullable(Type.String({ maxLength: 100, description: 'A few words.' }))),
  availability: Type.Optional(nullable(stringEnum(['not_set', 'busy']))),
  clear_status_after: Type.Optional(nullable(stringEnum(clearingTimes))),
});

const UserPreferences = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  view_diffs_file_by_file: Type.Boolean(),
  show_whitespace_in_diffs: Type.Boolean(),
  pass_user_identities_to_ci_jwt: Type.Boolean(),
  policy_advanced_editor: Type.Boolean(),
});

const PreferencesInput = Type.Partial(Type.Omit(UserPreferences, ['id', 'user_id']));

const defaultPreferences = {
  view_diffs_file_by_file: false,
  show_whitespace_in_diffs: true,
  pass_user_identities_to_ci_jwt: false,
  policy_advanced_editor: false,
};

const setStatus = (method: 'PUT' | 'PATCH', summary: string) =>
  endpoint({
    method,
    path: '/user/status',
    summary,
    access: signedIn,
    input: StatusInput,
    reply: UserStatus,
    handle: async ({ db, actor, input }) => {
      const time = now();
      const before = method === 'PATCH' ? await selectOwn(db, actor.id) : undefined;
      const { status, clearsAt, problem } = statusFrom(input, before, time);
      if (problem) throw invalid(problem);
      return saveStatus(db, actor.id, status, clearsAt);
    },
  });

const preferencesOf = (row: { id: number; preferences: unknown }): Static<typeof UserPreferences> => ({
  id: row.id,
  user_id: row.id,
  ...defaultPreferences,
  ...(typeof row.preferences === 'object' ? row.preferences : {}),
});

export const statusEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/user/status',
    summary: "The caller's status.",
    access: signedIn,
    scopes: readScopes,
    reply: UserStatus,
    handle: async ({ db, actor }) => presentStatus(await selectOwn(db, actor.id), now()),
  }),
  setStatus('PUT', "Sets the caller's status; what is not given is cleared."),
  setStatus('PATCH', "Changes the caller's status; what is not given stays."),
  endpoint({
    method: 'GET',
    path: '/users/:user_id/status',
    summary: "A user's status.",
    access: onUser('user_id'),
    scopes: readScopes,
    limit: { name: 'users_status', setting: 'users_api_limit_status', periodSeconds: 60 },
    reply: UserStatus,
    handle: async ({ subject }) => presentStatus(subject.row, now()),
  }),
  endpoint({
    method: 'GET',
    path: '/user/preferences',
    summary: "The caller's preferences.",
    access: signedIn,
    scopes: readScopes,
    reply: UserPreferences,
    handle: async ({ db, actor }) => preferencesOf(await selectOwn(db, actor.id)),
  }),
  endpoint({
    method: 'PUT',
    path: '/user/preferences',
    summary: "Changes the caller's preferences; what is not given stays.",
    access: signedIn,
    input: PreferencesInput,
    reply: UserPreferences,
    handle: async ({ db, actor, input }) => {
      const row = await changePreferences(db, actor.id, input);
      return preferencesOf(found(row, 'User'));
    },
  }),
];
