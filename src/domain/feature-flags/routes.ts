/** Feature flags of a project (facts: Projects core). */
import { onProject } from '../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import type { Db } from '../../platform/db/database.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { createFeatureFlag, deleteFeatureFlag, updateFeatureFlag } from './actions.ts';
import { loadUserLists, presentFeatureFlag } from './present.ts';
import { type FeatureFlagRow, selectFeatureFlag, selectFeatureFlags } from './queries.ts';
import { CreateInput, FeatureFlag, ListInput, NameInput, UpdateInput } from './schema.ts';

const path = '/projects/:id/feature_flags';
const pathOfOne = `${path}/:feature_flag_name`;

const presentOne = async (db: Db, project: AuthorizedProject, row: FeatureFlagRow): Promise<FeatureFlag> =>
  presentFeatureFlag(row, await loadUserLists(db, project, [row]));

export const featureFlagEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Feature flags of a project, by name.',
    access: onProject('read_feature_flags'),
    page: 'offset',
    input: ListInput,
    item: FeatureFlag,
    handle: async ({ db, subject, input, page }) => {
      const flags = await selectFeatureFlags(db, subject, input.scope, page);
      const lists = await loadUserLists(db, subject, flags.items);
      return mapPage(flags, (row) => presentFeatureFlag(row, lists));
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a feature flag.',
    access: onProject('manage_feature_flags'),
    input: CreateInput,
    reply: FeatureFlag,
    handle: async ({ db, actor, subject, input }) =>
      presentOne(db, subject, await createFeatureFlag(db, actor, subject, input)),
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'One feature flag.',
    access: onProject('read_feature_flags'),
    input: NameInput,
    reply: FeatureFlag,
    handle: async ({ db, subject, input }) =>
      presentOne(db, subject, found(await selectFeatureFlag(db, subject, input.feature_flag_name))),
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes a feature flag; what is not sent stays as it is.',
    access: onProject('manage_feature_flags'),
    input: UpdateInput,
    reply: FeatureFlag,
    handle: async ({ db, actor, subject, input }) =>
      presentOne(db, subject, await updateFeatureFlag(db, actor, subject, input)),
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a feature flag.',
    access: onProject('manage_feature_flags'),
    input: NameInput,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await deleteFeatureFlag(db, actor, subject, input.feature_flag_name, unmodified);
      return null;
    },
  }),
];
