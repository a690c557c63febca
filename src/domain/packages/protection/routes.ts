/** Protection rules of a project's packages (facts: Packages). */
import type { Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createRule, deleteRule, updateRule } from './actions.ts';
import { type RuleRow, selectRules } from './queries.ts';
import { nameOfLevel } from './rules.ts';
import { NewRule, OneRule, PackageProtectionRule, RuleUpdate } from './schema.ts';

const path = '/projects/:id/packages/protection/rules';
const pathOfOne = `${path}/:package_protection_rule_id` as const;
const manage = onProject('manage_package_protection');

const present = (row: RuleRow): Static<typeof PackageProtectionRule> => ({
  id: row.id,
  project_id: row.project_id,
  package_name_pattern: row.package_name_pattern,
  package_type: row.package_type,
  minimum_access_level_for_delete: nameOfLevel(row.delete_level),
  minimum_access_level_for_push: nameOfLevel(row.push_level),
});

export const protectionEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Protection rules of the packages of a project, the oldest first.',
    access: manage,
    page: 'offset',
    item: PackageProtectionRule,
    handle: async ({ db, subject, page }) => mapPage(await selectRules(db, subject, page), present),
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Protects packages of a project by their names.',
    access: manage,
    also: [422],
    input: NewRule,
    reply: PackageProtectionRule,
    handle: async (context) => present(await createRule(context, context.input)),
  }),
  endpoint({
    method: 'PATCH',
    path: pathOfOne,
    summary: 'Changes a protection rule of packages.',
    access: manage,
    also: [422],
    input: RuleUpdate,
    reply: PackageProtectionRule,
    handle: async (context) => {
      const { package_protection_rule_id, ...changes } = context.input;
      return present(await updateRule(context, package_protection_rule_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a protection rule of packages.',
    access: manage,
    input: OneRule,
    reply: noContent,
    handle: async (context) => {
      await deleteRule(context, context.input.package_protection_rule_id, context.unmodified);
      return null;
    },
  }),
];
