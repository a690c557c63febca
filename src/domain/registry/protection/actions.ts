/** Makes, changes and deletes protection rules of images and tags. */
import { levelColumns } from '../../../kernel/protection/levels.ts';
import {
  createRule,
  deleteRule,
  type RuleContext,
  type RuleKind,
  requireLevel,
  unprocessable,
  updateRule,
} from '../../../kernel/protection/rule-actions.ts';
import { forbidden } from '../../../platform/failure.ts';
import { patternProblem } from '../../../platform/patterns/pattern.ts';
import type { RepositoryRuleRow, TagRuleRow } from './queries.ts';
import { belowProject, isImmutable } from './rules.ts';
import type { NewTagRule, RepositoryRuleChanges, TagRuleChanges } from './schema.ts';

export const repositoryRules: RuleKind<RepositoryRuleRow> = {
  table: 'container_repository_protection_rules',
  name: 'container registry',
  most: 100,
  noun: 'Container Registry Protection Rule',
  audited: {
    event: 'container_repository_protection_rule',
    type: 'ContainerRegistry::Protection::Rule',
    details: ({ below_project }) => below_project,
  },
  check: requireLevel,
};

const tagRules: RuleKind<TagRuleRow> = {
  table: 'container_tag_protection_rules',
  name: 'container registry tag',
  most: 5,
  noun: 'Container Registry Protection Tag Rule',
  audited: {
    event: 'container_tag_protection_rule',
    type: 'ContainerRegistry::Protection::TagRule',
    details: ({ tag_name_pattern }) => tag_name_pattern,
  },
  check(rule, before) {
    if (before && isImmutable(before))
      throw unprocessable('A rule of immutable tags cannot be changed: delete it and make another one.');
    if (before && isImmutable(rule)) requireLevel(rule);
    if ((rule.push_level === null) !== (rule.delete_level === null))
      throw unprocessable('A rule must have a minimum access role for push and for delete, or neither.');
  },
};

const belowOf = ({ subject }: RuleContext, pattern: string): string => {
  const below = belowProject(pattern, subject.fullPath);
  if (below === undefined)
    throw unprocessable('Repository path pattern should start with the full path of the project');
  return below;
};

export const createRepositoryRule = (
  context: RuleContext,
  {
    repository_path_pattern,
    ...levels
  }: RepositoryRuleChanges & Required<Pick<RepositoryRuleChanges, 'repository_path_pattern'>>,
): Promise<RepositoryRuleRow> =>
  createRule(context, repositoryRules, {
    below_project: belowOf(context, repository_path_pattern),
    push_level: null,
    delete_level: null,
    ...levelColumns(levels),
  });

export const updateRepositoryRule = (
  context: RuleContext,
  id: number,
  { repository_path_pattern: pattern, ...levels }: RepositoryRuleChanges,
): Promise<RepositoryRuleRow> =>
  updateRule(context, repositoryRules, id, {
    ...(pattern !== undefined && { below_project: belowOf(context, pattern) }),
    ...levelColumns(levels),
  });

async function requirePattern(pattern: string | undefined): Promise<void> {
  const problem = pattern === undefined ? undefined : await patternProblem(pattern);
  if (problem !== undefined) throw unprocessable(`Tag name pattern ${problem}`);
}

/** Rules of immutable tags are for owners: nobody else could undo what follows. */
function requireOwner({ subject }: RuleContext, rule: Parameters<typeof isImmutable>[0]): void {
  if (isImmutable(rule) && !subject.may('manage_immutable_images'))
    throw forbidden('rules of immutable tags are for owners');
}

export async function createTagRule(
  context: RuleContext,
  { tag_name_pattern, ...levels }: NewTagRule,
): Promise<TagRuleRow> {
  await requirePattern(tag_name_pattern);
  const rule = { push_level: null, delete_level: null, ...levelColumns(levels) };
  requireOwner(context, rule);
  return createRule(context, tagRules, { tag_name_pattern, ...rule });
}

export async function updateTagRule(
  context: RuleContext,
  id: number,
  { tag_name_pattern, ...levels }: TagRuleChanges,
): Promise<TagRuleRow> {
  await requirePattern(tag_name_pattern);
  return updateRule(context, tagRules, id, {
    ...(tag_name_pattern !== undefined && { tag_name_pattern }),
    ...levelColumns(levels),
  });
}

export const deleteTagRule = (
  context: RuleContext,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> => deleteRule(context, tagRules, id, unmodified, (row) => requireOwner(context, row));
