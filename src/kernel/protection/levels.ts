/** Levels that protection rules of packages and images ask of those who push and delete. Pure. */
import Type from 'typebox';
import { nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import type { Role } from '../policy/roles.ts';

/** Levels by their names; an administrator's is above all roles. */
const levels = { maintainer: 40, owner: 50, admin: 60 } as const;
export const levelNames = ['maintainer', 'owner', 'admin'] as const;
export type LevelName = (typeof levelNames)[number];

/** The columns of a rule: null where everybody who pushes, or deletes, may. */
export type RuleLevels = { push_level: number | null; delete_level: number | null };

/** The fields of a rule's record. */
export const levelFields = {
  minimum_access_level_for_delete: nullable(Type.String()),
  minimum_access_level_for_push: nullable(Type.String()),
};

/** Fields of a request that may name levels. */
export const levelInputs = (forDelete: readonly LevelName[] = levelNames) => ({
  minimum_access_level_for_delete: Type.Optional(nullable(stringEnum(forDelete))),
  minimum_access_level_for_push: Type.Optional(nullable(stringEnum(levelNames))),
});
type LevelInput = {
  minimum_access_level_for_delete?: LevelName | null | undefined;
  minimum_access_level_for_push?: LevelName | null | undefined;
};

const levelNamed = (name: LevelName | null): number | null => name && levels[name];
const nameOfLevel = (level: number | null): LevelName | null =>
  levelNames.find((name) => levels[name] === level) ?? null;

/** The columns that the fields of a request name. */
export const levelColumns = ({
  minimum_access_level_for_push: push,
  minimum_access_level_for_delete: remove,
}: LevelInput): Partial<RuleLevels> => ({
  ...(push !== undefined && { push_level: levelNamed(push) }),
  ...(remove !== undefined && { delete_level: levelNamed(remove) }),
});

export const presentLevels = ({ push_level, delete_level }: RuleLevels) => ({
  minimum_access_level_for_delete: nameOfLevel(delete_level),
  minimum_access_level_for_push: nameOfLevel(push_level),
});

/** The level of a caller with the role. */
export const levelOf = (caller: { admin: boolean } | undefined, role: Role): number =>
  caller?.admin ? levels.admin : role;

/** The level that these rules ask together. */
export const neededLevel = (rules: readonly RuleLevels[], column: keyof RuleLevels): number =>
  Math.max(0, ...rules.map((rule) => rule[column] ?? 0));
