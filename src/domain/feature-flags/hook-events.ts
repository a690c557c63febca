/** Feature flags that are turned on or off, as hooks are told of them (facts-merge-requests: 10.5). */
import {
  type HookEvent,
  type HookSample,
  type HookServices,
  hookProject,
  hookSource,
  hookUser,
  readContext,
} from '../hooks/index.ts';
import { type FeatureFlagRow, selectFeatureFlagById, selectNewestFeatureFlag } from './queries.ts';

type FeatureFlagFact = { project_id: number; user_id: number; feature_flag_id: number; active: boolean };

async function featureFlagEvent(
  services: HookServices,
  { id, project_id, name, description, active }: FeatureFlagRow,
  userId: number,
): Promise<HookEvent[]> {
  const context = await readContext(services, project_id, userId);
  if (!context) return [];
  const { around, project, user } = context;
  const body = {
    object_kind: 'feature_flag',
    project: hookProject(around, project),
    user: user && hookUser(user),
    user_url: user?.web_url,
    object_attributes: { id, name, description, active },
  };
  return [{ flag: 'feature_flag_events', body }];
}

export const featureFlagHook = hookSource<FeatureFlagFact>({
  fact: 'feature_flag_switched',
  flags: ['feature_flag_events'],
  async eventsOf(services, { feature_flag_id, user_id, active }) {
    const flag = await selectFeatureFlagById(services.database.background, feature_flag_id);
    return flag ? featureFlagEvent(services, { ...flag, active }, user_id) : [];
  },
});

export const featureFlagSample: HookSample = {
  flag: 'feature_flag_events',
  async eventFor(services, { projectId, userId }) {
    const flag = await selectNewestFeatureFlag(services.database.background, projectId);
    const [event] = flag ? await featureFlagEvent(services, flag, userId) : [];
    return event ?? { missing: 'Ensure the project has feature flags.' };
  },
};
