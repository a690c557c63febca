/** Which roles push and delete images and tags that rules protect (facts-packages: 2.6, Protection). Pure. */
import { neededLevel, type RuleLevels } from '../../../kernel/protection/levels.ts';
import type { PatternCompiler } from '../../../platform/patterns/pattern.ts';
import { fits } from '../../../platform/patterns/wildcard.ts';

export type RepositoryRule = RuleLevels & { below_project: string };
export type TagRule = RuleLevels & { tag_name_pattern: string };

/** The part of a pattern that follows the project's path; undefined where it begins otherwise. */
export function belowProject(pattern: string, projectPath: string): string | undefined {
  const [lower, path] = [pattern.toLowerCase(), projectPath.toLowerCase()];
  const rest = lower.slice(path.length);
  return lower.startsWith(path) && /^(?:[*/][a-z0-9._/*-]*)?$/.test(rest) ? rest : undefined;
}

/** What level the rules ask of those who push, or delete, in the repository of this name. */
export const neededInRepository = (
  rules: readonly RepositoryRule[],
  name: string,
  column: keyof RuleLevels,
): number => {
  const rest = name === '' ? '' : `/${name}`;
  return neededLevel(
    rules.filter((rule) => fits(rest, rule.below_project)),
    column,
  );
};

/** A rule without levels: tags that match it never change, whoever asks. */
export const isImmutable = ({ push_level, delete_level }: RuleLevels): boolean =>
  push_level === null && delete_level === null;

/** Why a tag is kept from a caller: the pattern that says it. */
export type TagGuard = {
  pushRefusedBy(tag: string): string | undefined;
  deleteRefusedBy(tag: string): string | undefined;
  isImmutable(tag: string): boolean;
};

/**
 * What the rules keep from a caller of this level; from the program itself, which has none, all that they keep from anybody.
 * A pattern that is wrong, of the time when any was kept, keeps everything.
 */
export function tagGuard(rules: readonly TagRule[], level: number, compile: PatternCompiler): TagGuard {
  const compiled = rules.map((rule) => {
    const pattern = compile(rule.tag_name_pattern);
    return { ...rule, matches: (tag: string) => 'problem' in pattern || pattern.test(tag) };
  });
  const firstOf = (tag: string, keeps: (rule: TagRule) => boolean): string | undefined =>
    compiled.find((rule) => keeps(rule) && rule.matches(tag))?.tag_name_pattern;
  return {
    pushRefusedBy: (tag) => firstOf(tag, ({ push_level }) => level < (push_level ?? 0)),
    deleteRefusedBy: (tag) => firstOf(tag, (rule) => isImmutable(rule) || level < (rule.delete_level ?? 0)),
    isImmutable: (tag) => firstOf(tag, isImmutable) !== undefined,
  };
}
