/** What CI variables may be (facts-ci: 5.1), and who may give a pipeline its own. Pure. */

import type { ParentKind } from '../../../kernel/access/resource-parents.ts';
import { limitOf, type PlanLimits } from '../../../kernel/instance/plan-limits.ts';
import type { ProjectSettings } from '../../../kernel/namespaces/project-settings.ts';
import { DEVELOPER, MAINTAINER, OWNER, type Role } from '../../../kernel/policy/roles.ts';
import type { ValidationMessages } from '../../../platform/failure.ts';

export const variableTypes = ['env_var', 'file'] as const;

export type Variable = {
  key: string;
  value: string;
  variable_type: (typeof variableTypes)[number];
  protected: boolean;
  masked: boolean;
  hidden: boolean;
  raw: boolean;
  environment_scope: string;
  description: string | null;
};

/** What requests say of a variable. */
export type VariableChanges = Partial<Omit<Variable, 'key' | 'hidden'>>;

export type VariableInput = VariableChanges & { key: string; value: string; masked_and_hidden?: boolean };

export const MAX_VALUE_LENGTH = 10_000;

/** The scope of all environments. */
export const ANY_ENVIRONMENT = '*';

const nouns: Record<ParentKind, string> = {
  project: 'project ci variables',
  group: 'group ci variables',
  instance: 'ci instance level variables',
};

/** How many a parent may have; of the instance the plan says so. */
const mostOf = (kind: ParentKind, limits: PlanLimits): number =>
  ({ project: 8_000, group: 30_000, instance: limitOf(limits, 'ci_instance_level_variables') })[kind];

export const KEY_PATTERN = '^[A-Za-z0-9_]+$';
export const SCOPE_PATTERN = '^[A-Za-z0-9_/{$}. *-]+$';
const isKey = new RegExp(KEY_PATTERN);
const isScope = new RegExp(SCOPE_PATTERN);

/** What logs can be searched for: of a raw value all but white space, of another one nothing that is expanded. */
const isMaskable = { raw: /^[^ \t\r\n\f\v]{8,}$/u, expanded: /^[A-Za-z0-9_+=/@:.~-]{8,}$/ };

const isTooLong = (value: string): boolean =>
  value.length > MAX_VALUE_LENGTH && [...value].length > MAX_VALUE_LENGTH;

const BLANK = "can't be blank";

/** A new variable by the request; the key and the scope are trimmed. */
export const newVariable = ({
  key,
  value,
  masked_and_hidden: hidden = false,
  ...given
}: VariableInput): Variable => ({
  variable_type: 'env_var',
  protected: false,
  raw: false,
  description: null,
  ...given,
  key: key.trim(),
  value,
  hidden,
  masked: hidden || (given.masked ?? false),
  environment_scope: (given.environment_scope ?? ANY_ENVIRONMENT).trim(),
});

/** The variable after a change. */
export const changedVariable = (
  before: Variable,
  { environment_scope = before.environment_scope, ...given }: VariableChanges,
): Variable => ({ ...before, ...given, environment_scope: environment_scope.trim() });

/** Messages for what no variable can be, by property; none for a good one. */
export function problemsOf({ key, value, masked, raw, environment_scope }: Variable): ValidationMessages {
  const problems: [property: string, message: string | false][] = [
    ['key', key === '' && BLANK],
    ['key', !isKey.test(key) && "can contain only letters, digits and '_'."],
    [
      'value',
      isTooLong(value) &&
        `The value of the provided variable exceeds the ${MAX_VALUE_LENGTH} character limit`,
    ],
    ['value', masked && !isMaskable[raw ? 'raw' : 'expanded'].test(value) && 'is invalid'],
    ['environment_scope', environment_scope === '' && BLANK],
    [
      'environment_scope',
      !isScope.test(environment_scope) &&
        "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces",
    ],
  ];
  return byProperty(problems);
}

/** Messages for a change of who sees the value: a hidden one stays so. */
export const visibilityProblems = (before: Variable, { masked }: VariableChanges): ValidationMessages =>
  byProperty([
    [
      'base',
      before.hidden &&
        masked === false &&
        'The visibility setting cannot be changed for masked and hidden variables.',
    ],
  ]);

/** Messages for a variable among others of its parent: whether its key and scope are taken, how many others there are. */
export const placeProblems = (
  kind: ParentKind,
  { key }: Variable,
  { taken, count }: { taken: boolean; count: number },
  limits: PlanLimits,
): ValidationMessages =>
  byProperty([
    ['key', taken && `(${key}) has already been taken`],
    [
      'base',
      count >= mostOf(kind, limits) && `Maximum number of ${nouns[kind]} (${mostOf(kind, limits)}) exceeded`,
    ],
  ]);

function byProperty(problems: readonly [property: string, message: string | false][]): ValidationMessages {
  const messages: Record<string, string[]> = {};
  for (const [property, message] of problems)
    if (message !== false) messages[property] = [...(messages[property] ?? []), message];
  return messages;
}

/** What a change made another: the value without what it was and is, for those who read of it. */
export const differences = (before: Variable, after: Variable) =>
  (Object.keys(before) as (keyof Variable)[])
    .filter((property) => before[property] !== after[property])
    .map((property) =>
      property === 'value'
        ? { change: property }
        : { change: property, from: before[property], to: after[property] },
    );

const roles: Record<ProjectSettings['ci_pipeline_variables_minimum_override_role'], Role | undefined> = {
  no_one_allowed: undefined,
  developer: DEVELOPER,
  maintainer: MAINTAINER,
  owner: OWNER,
};

/** Whether this role may give variables to pipelines of the project. */
export function maySetVariables(
  { ci_pipeline_variables_minimum_override_role: least }: ProjectSettings,
  role: Role,
): boolean {
  const needed = roles[least];
  return needed !== undefined && role >= needed;
}
