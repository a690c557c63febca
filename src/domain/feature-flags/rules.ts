/** Rules of feature flags, and changes of their strategies. Pure. */
import type { ValidationMessages } from '../../platform/failure.ts';
import { type ScopeInput, type StrategyInput, strategyNames } from './schema.ts';

type StoredScope = { id: number; environment_scope: string };
export type StoredStrategy = {
  id: number;
  name: string;
  parameters: Record<string, string>;
  /** Of `gitlabUserList`. */
  user_list_id?: number;
  scopes: StoredScope[];
};

/** Lower-case, starts with a letter, does not end in a sign. */
export function checkName(name: string): string[] {
  if (name.length < 2) return ['is too short (minimum is 2 characters)'];
  if (name.length > 63) return ['is too long (maximum is 63 characters)'];
  if (/^[a-z](?:[a-z0-9_-]*[a-z0-9])?$/.test(name)) return [];
  return [
    "can contain only lowercase letters, digits, '_' and '-'. Must start with a letter, and cannot end with '-' or '_'",
  ];
}

type Check = (value: string) => string | undefined;

const percentage =
  (name: string): Check =>
  (value) =>
    /^(?:0|[1-9]\d?|100)$/.test(value) ? undefined : `${name} must be a string between 0 and 100 inclusive`;
const groupId: Check = (value) => (/^[a-z]{1,32}$/.test(value) ? undefined : 'groupId parameter is invalid');
const stickiness: Check = (value) =>
  ['default', 'userId', 'sessionId', 'random'].includes(value)
    ? undefined
    : 'stickiness parameter must be default, userId, sessionId, or random';

/** Ids of users, separated by commas: unique, and not empty. */
const userIds: Check = (value) => {
  const ids = value.split(',').map((id) => id.trim());
  const right = ids.every((id) => id.length >= 1 && id.length <= 256) && new Set(ids).size === ids.length;
  return right
    ? undefined
    : 'userIds must be a string of unique comma separated values each 256 characters or less';
};

/** The kinds of strategies, each with exactly its parameters. */
const strategyParameters: Record<(typeof strategyNames)[number], Record<string, Check>> = {
  default: {},
  gradualRolloutUserId: { percentage: percentage('percentage'), groupId },
  userWithId: { userIds },
  gitlabUserList: {},
  flexibleRollout: { rollout: percentage('rollout'), groupId, stickiness },
};

/** Messages for an invalid strategy. */
export function checkStrategy({
  name,
  parameters,
  user_list_id,
  scopes,
}: Omit<StoredStrategy, 'id'>): string[] {
  const known = strategyNames.find((each) => each === name);
  const checks = known && strategyParameters[known];
  if (!checks) return ['strategy name is invalid'];
  const names = Object.keys(parameters);
  const complete = Object.keys(checks).every((key) => Object.hasOwn(parameters, key));
  if (!complete || names.length !== Object.keys(checks).length) return ['parameters are invalid'];
  const problems = Object.entries(checks).map(([key, check]) => check(parameters[key] ?? ''));
  const environments = scopes.map((scope) => scope.environment_scope);
  if ((name === 'gitlabUserList') !== (user_list_id !== undefined))
    problems.push(name === 'gitlabUserList' ? "user list can't be blank" : 'user list must be blank');
  if (environments.some((text) => text.trim() === '')) problems.push("environment scope can't be blank");
  if (new Set(environments).size !== environments.length) {
    problems.push('environment scope has already been taken');
  }
  return problems.filter((problem) => problem !== undefined);
}

type Outcome<T> = { value: T } | { problem: string };

/** The scopes after the change: named ones changed or deleted, others kept, those without an id added. */
function changeScopes(
  current: readonly StoredScope[],
  inputs: readonly ScopeInput[],
  nextId: () => number,
): Outcome<StoredScope[]> {
  const scopes = new Map(current.map((scope) => [scope.id, scope]));
  for (const { id, environment_scope, _destroy } of inputs) {
    const known = id === undefined ? undefined : scopes.get(id);
    if (id !== undefined && !known) return { problem: `there is no scope ${id}` };
    if (_destroy) {
      if (known) scopes.delete(known.id);
      continue;
    }
    const scope = {
      id: known?.id ?? nextId(),
      environment_scope: environment_scope ?? known?.environment_scope ?? '',
    };
    scopes.set(scope.id, scope);
  }
  return { value: [...scopes.values()] };
}

/** Characters of all strategies of a flag: a page has a hundred flags, and those of programs more. */
const MAX_LENGTH = 262_144;
const lengthOf = (strategies: readonly StoredStrategy[]): number => JSON.stringify(strategies).length;

const userListOf = (id: number | null | undefined) => (id == null ? {} : { user_list_id: id });

/**
 * The strategies after the change, in their order: those with an id are changed or, with `_destroy`, deleted,
 * others kept, those without an id added under ids from `nextId`. Problems are messages for the property
 * `strategies`.
 */
export function changeStrategies(
  current: readonly StoredStrategy[],
  inputs: readonly StrategyInput[],
  nextId: () => number,
): { strategies: StoredStrategy[]; problems: string[] } {
  const strategies = new Map(current.map((strategy) => [strategy.id, strategy]));
  const problems: string[] = [];
  for (const { id, name, parameters, user_list_id, scopes, _destroy } of inputs) {
    const known = id === undefined ? undefined : strategies.get(id);
    if (id !== undefined && !known) {
      problems.push(`there is no strategy ${id}`);
      continue;
    }
    if (_destroy) {
      if (known) strategies.delete(known.id);
      continue;
    }
    const changed = changeScopes(known?.scopes ?? [], scopes ?? [], nextId);
    if ('problem' in changed) {
      problems.push(changed.problem);
      continue;
    }
    const strategy = {
      id: known?.id ?? nextId(),
      name: name ?? known?.name ?? '',
      parameters: parameters ?? known?.parameters ?? {},
      ...userListOf(user_list_id === undefined ? known?.user_list_id : user_list_id),
      scopes: changed.value,
    };
    problems.push(...checkStrategy(strategy));
    strategies.set(strategy.id, strategy);
  }
  if (strategies.size > 100) problems.push('are too many (maximum is 100)');
  const length = lengthOf([...strategies.values()]);
  if (length > MAX_LENGTH && length > lengthOf(current))
    problems.push(`are too long (maximum is ${MAX_LENGTH} characters)`);
  return { strategies: [...strategies.values()], problems: [...new Set(problems)] };
}

/** The number of ids that a change may need. */
export const countNewParts = (inputs: readonly StrategyInput[]): number =>
  inputs.reduce((count, { id, scopes = [] }) => {
    return count + (id === undefined ? 1 : 0) + scopes.filter((scope) => scope.id === undefined).length;
  }, 0);

/** Messages by property; valid properties are left out. */
export const messagesOf = (problems: Record<string, string[]>): ValidationMessages =>
  Object.fromEntries(Object.entries(problems).filter(([, texts]) => texts.length > 0));
