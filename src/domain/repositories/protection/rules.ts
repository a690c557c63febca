/** Turns a request's lists into the entries of a protection. Pure. */
import { MAINTAINER } from '../../../kernel/policy/roles.ts';
import type { Grant } from './branch-actions.ts';
import type { Allowed } from './protection-rules.ts';
import { type GrantInput, kinds } from './schema.ts';

/** A request named no level, user, group or key, or several of them, or an unknown entry. */
export class BadGrant extends Error {}

const keyOf = (grant: Grant): string => kinds.map((kind) => grant[kind] ?? '').join();

/** Whether the entry names a user or a group, which a lower tier does not support. */
const namesPeople = ({ user_id, group_id }: GrantInput) => user_id !== undefined || group_id !== undefined;

/** The one subject of an entry. */
function grantOf(input: GrantInput): Grant {
  const [kind, ...more] = kinds.filter((each) => input[each] !== undefined);
  const value = kind && input[kind];
  if (kind === undefined || value === undefined || more.length > 0)
    throw new BadGrant('must name one of access_level, user_id, group_id and deploy_key_id');
  return { [kind]: value };
}

const distinct = (grants: readonly Grant[]): Grant[] => [
  ...new Map(grants.map((grant) => [keyOf(grant), grant])).values(),
];

/** Entries of a new protection: the list, and the level beside it; maintainers where neither is given. */
export function newGrants(
  given: { level?: number | undefined; allowed?: readonly GrantInput[] | undefined },
  premium: boolean,
): Grant[] {
  const listed = (given.allowed ?? []).filter((input) => premium || !namesPeople(input)).map(grantOf);
  const level = given.level ?? (listed.length === 0 ? MAINTAINER : undefined);
  return distinct([...listed, ...(level === undefined ? [] : [{ access_level: level }])]);
}

export type StoredGrant = Allowed & { id: number };
export type GrantChanges = { remove: number[]; change: { id: number; grant: Grant }[]; add: Grant[] };

/** The changes of the stored entries: those with an id are changed or removed, the others are new. */
export function changeGrants(
  stored: readonly StoredGrant[],
  requested: readonly GrantInput[],
  premium: boolean,
): GrantChanges {
  const ids = new Set(stored.map(({ id }) => id));
  const changes: GrantChanges = { remove: [], change: [], add: [] };
  for (const input of requested) {
    if (input.id !== undefined && !ids.has(input.id)) throw new BadGrant(`has no entry ${input.id}`);
    if (input._destroy) {
      if (input.id === undefined) throw new BadGrant('must name the entry to remove by its id');
      changes.remove.push(input.id);
    } else if (premium || !namesPeople(input)) {
      const grant = grantOf(input);
      if (input.id === undefined) changes.add.push(grant);
      else changes.change.push({ id: input.id, grant });
    }
  }
  const touched = new Set([...changes.remove, ...changes.change.map(({ id }) => id)]);
  const staying = new Set([
    ...stored.filter(({ id }) => !touched.has(id)).map(keyOf),
    ...changes.change.map(({ grant }) => keyOf(grant)),
  ]);
  return { ...changes, add: distinct(changes.add).filter((grant) => !staying.has(keyOf(grant))) };
}
