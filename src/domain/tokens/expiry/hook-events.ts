/** Tokens of projects and groups that expire soon, as hooks are told of them (facts-merge-requests: 10.5). */
import {
  type HookEvent,
  type HookPlace,
  type HookSample,
  type HookServices,
  hookSource,
  hookTime,
  readPlace,
} from '../../hooks/index.ts';
import { type HookToken, selectHookToken, selectNewestProjectToken } from '../queries.ts';

type TokenFact = HookPlace & { token_id: number };

async function tokenEvent(
  services: HookServices,
  place: HookPlace,
  { user_id, created_at, id, name, expires_at }: HookToken,
): Promise<HookEvent[]> {
  const part = await readPlace(services, place);
  if (!part) return [];
  const body = {
    object_kind: 'access_token',
    ...part,
    object_attributes: {
      user_id,
      created_at: hookTime(created_at),
      id,
      name,
      expires_at: expires_at?.toISOString().slice(0, 10) ?? null,
    },
    event_name: 'expiring_access_token',
  };
  return [{ flag: 'resource_access_token_events', body }];
}

export const tokenHook = hookSource<TokenFact>({
  fact: 'access_token_expiring',
  flags: ['resource_access_token_events'],
  async eventsOf(services, told) {
    const token = await selectHookToken(services.database.background, told.token_id);
    return token ? tokenEvent(services, told, token) : [];
  },
});

export const tokenSample: HookSample = {
  flag: 'resource_access_token_events',
  async eventFor(services, { projectId }) {
    const newest = await selectNewestProjectToken(services.database.background, projectId);
    const [event] = newest ? await tokenEvent(services, { project_id: projectId }, newest) : [];
    return event ?? { missing: 'Ensure the project has access tokens.' };
  },
};
