/** Protection rules of a project's packages (facts: Packages). */
import type { Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { presentLevels } from '../../../kernel/protection/levels.ts';
import { deleteRule } from '../../../kernel/protection/rule-actions.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createPackageRule, packageRules, updatePackageRule } from './actions.ts';
import { type RuleRow, selectRules } from './queries.ts';
import { NewRule, OneRule, PackageProtectionRule, RuleUpdate } from './schema.ts';

const path = '/projects/:id/packages/protection/rules';
const pathOfOne = `${path}/:package_protection_rule_id` as const;
const manage = onProject('manage_package_protection');

const present = (row: RuleRow): Static<typeof PackageProtectionRule> => ({
  id: row.id,
  project_id: row.project_id,
  package_name_pattern: row.package_name_pattern,
  package_type: row.package_type,
  ...presentLevels(row),
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
    handle: async (context) => present(await createPackageRule(context, context.input)),
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
      return present(await updatePackageRule(context, package_protection_rule_id, changes));
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
      const { package_protection_rule_id: id } = context.input;
      await deleteRule(context, packageRules, id, context.unmodified);
      return null;
    },
  }),
];
