/** Protection rules of a project's images and tags (facts: Container registry). */
import type { Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { presentLevels } from '../../../kernel/protection/levels.ts';
import { deleteRule } from '../../../kernel/protection/rule-actions.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import {
  createRepositoryRule,
  createTagRule,
  deleteTagRule,
  repositoryRules,
  updateRepositoryRule,
  updateTagRule,
} from './actions.ts';
import {
  type RepositoryRuleRow,
  selectRepositoryRulePage,
  selectTagRulePage,
  type TagRuleRow,
} from './queries.ts';
import {
  NewRepositoryRule,
  NewTagRule,
  OneRule,
  RepositoryProtectionRule,
  RepositoryRuleUpdate,
  TagProtectionRule,
  TagRuleUpdate,
} from './schema.ts';

const paths = '/projects/:id/registry/protection/repository/rules';
const pathOfOne = `${paths}/:protection_rule_id` as const;
const tags = '/projects/:id/registry/protection/tag/rules';
const tagsOfOne = `${tags}/:protection_rule_id` as const;
const manage = onProject('manage_container_protection');

const presentRepositoryRule = (
  { fullPath }: AuthorizedProject,
  row: RepositoryRuleRow,
): Static<typeof RepositoryProtectionRule> => ({
  id: row.id,
  project_id: row.project_id,
  repository_path_pattern: `${fullPath.toLowerCase()}${row.below_project}`,
  ...presentLevels(row),
});

const presentTagRule = (row: TagRuleRow): Static<typeof TagProtectionRule> => ({
  id: row.id,
  project_id: row.project_id,
  tag_name_pattern: row.tag_name_pattern,
  ...presentLevels(row),
});

export const protectionEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: paths,
    summary: 'Protection rules of the images of a project, the oldest first.',
    access: manage,
    page: 'offset',
    item: RepositoryProtectionRule,
    handle: async ({ db, subject, page }) =>
      mapPage(await selectRepositoryRulePage(db, subject, page), (row) =>
        presentRepositoryRule(subject, row),
      ),
  }),
  endpoint({
    method: 'POST',
    path: paths,
    summary: 'Protects images of a project by their paths.',
    access: manage,
    also: [422],
    input: NewRepositoryRule,
    reply: RepositoryProtectionRule,
    handle: async (context) =>
      presentRepositoryRule(context.subject, await createRepositoryRule(context, context.input)),
  }),
  endpoint({
    method: 'PATCH',
    path: pathOfOne,
    summary: 'Changes a protection rule of images.',
    access: manage,
    also: [422],
    input: RepositoryRuleUpdate,
    reply: RepositoryProtectionRule,
    handle: async (context) => {
      const { protection_rule_id, ...changes } = context.input;
      const row = await updateRepositoryRule(context, protection_rule_id, changes);
      return presentRepositoryRule(context.subject, row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a protection rule of images.',
    access: manage,
    input: OneRule,
    reply: noContent,
    handle: async (context) => {
      const { protection_rule_id: id } = context.input;
      await deleteRule(context, repositoryRules, id, context.unmodified);
      return null;
    },
  }),
  listing({
    method: 'GET',
    path: tags,
    summary: 'Protection rules of the tags of a project, the oldest first.',
    access: manage,
    page: 'offset',
    item: TagProtectionRule,
    handle: async ({ db, subject, page }) =>
      mapPage(await selectTagRulePage(db, subject, page), presentTagRule),
  }),
  endpoint({
    method: 'POST',
    path: tags,
    summary: 'Protects tags of a project by their names, or makes them immutable.',
    access: manage,
    also: [422],
    input: NewTagRule,
    reply: TagProtectionRule,
    handle: async (context) => presentTagRule(await createTagRule(context, context.input)),
  }),
  endpoint({
    method: 'PATCH',
    path: tagsOfOne,
    summary: 'Changes a protection rule of tags.',
    access: manage,
    also: [422],
    input: TagRuleUpdate,
    reply: TagProtectionRule,
    handle: async (context) => {
      const { protection_rule_id, ...changes } = context.input;
      return presentTagRule(await updateTagRule(context, protection_rule_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: tagsOfOne,
    summary: 'Deletes a protection rule of tags.',
    access: manage,
    input: OneRule,
    reply: noContent,
    handle: async (context) => {
      await deleteTagRule(context, context.input.protection_rule_id, context.unmodified);
      return null;
    },
  }),
];
