/** The entries of protected environments: how a request changes them, whom they admit (facts: Protected environments). Pure. */

export type Access = {
  access_level: number | null;
  user_id: number | null;
  group_id: number | null;
  group_inheritance_type: number;
  /** So many of those whom the entry names must approve; null where it says who deploys. */
  required_approvals: number | null;
};
export type StoredAccess = Access & { id: number };

export type AccessInput = Partial<Record<'access_level' | 'user_id' | 'group_id', number>> & {
  group_inheritance_type?: number;
  required_approvals?: number;
  id?: number;
  _destroy?: boolean;
};

/** A request named no level, user or group, or several of them, or an unknown entry. */
export class BadAccess extends Error {}

const kinds = ['access_level', 'user_id', 'group_id'] as const;
const keyOf = (access: Access): string => kinds.map((kind) => access[kind] ?? '').join();

const namesSomebody = (input: AccessInput): boolean => kinds.some((kind) => input[kind] !== undefined);

/** The one subject of an entry. */
function accessOf(input: AccessInput): Access {
  if (kinds.filter((kind) => input[kind] !== undefined).length !== 1)
    throw new BadAccess('must name one of access_level, user_id and group_id');
  const { access_level = null, user_id = null, group_id = null, group_inheritance_type = 0 } = input;
  const { required_approvals = null } = input;
  return { access_level, user_id, group_id, group_inheritance_type, required_approvals };
}

export type AccessChanges = { remove: number[]; change: StoredAccess[]; add: Access[] };

/** The changes of the stored entries: those with an id are changed or removed, the others are new. */
function allChanges(
  stored: readonly StoredAccess[],
  requested: readonly AccessInput[],
): { changes: AccessChanges; left: number } {
  const byId = new Map(stored.map((entry) => [entry.id, entry]));
  const changes: AccessChanges = { remove: [], change: [], add: [] };
  for (const input of requested) {
    const entry = input.id === undefined ? undefined : byId.get(input.id);
    if (input.id !== undefined && !entry) throw new BadAccess(`has no entry ${input.id}`);
    if (input._destroy) {
      if (!entry) throw new BadAccess('must name the entry to remove by its id');
      changes.remove.push(entry.id);
    } else if (!entry) changes.add.push(accessOf(input));
    else {
      const { group_inheritance_type = entry.group_inheritance_type } = input;
      const { required_approvals = entry.required_approvals } = input;
      const next = namesSomebody(input) ? accessOf(input) : entry;
      changes.change.push({ ...next, group_inheritance_type, required_approvals, id: entry.id });
    }
  }
  const touched = new Set([...changes.remove, ...changes.change.map(({ id }) => id)]);
  const staying = [...stored.filter(({ id }) => !touched.has(id)), ...changes.change].map(keyOf);
  const add = [...new Map(changes.add.map((access) => [keyOf(access), access])).values()];
  changes.add = add.filter((access) => !staying.includes(keyOf(access)));
  return { changes, left: staying.length + changes.add.length };
}

/** Of those who deploy. An environment that is protected from everybody is none: one entry stays. */
export function changesOf(stored: readonly StoredAccess[], requested: readonly AccessInput[]): AccessChanges {
  const { changes, left } = allChanges(stored, requested);
  if (left === 0) throw new BadAccess("can't be empty");
  return changes;
}

/** Of those who approve: one of them does, where a new rule does not say how many. */
export const ruleChangesOf = (
  stored: readonly StoredAccess[],
  requested: readonly AccessInput[],
): AccessChanges =>
  allChanges(
    stored,
    requested.map((input) => (input.id === undefined ? { required_approvals: 1, ...input } : input)),
  ).changes;

/** What protects an environment: of its project by its name, or of a group around that by its tier. */
export type Protection = {
  project_id: number | null;
  name: string;
  /** Who deploys. */
  entries: readonly Access[];
};

export type Deployer = {
  id: number;
  role: number;
  admin: boolean;
  /** Whether the user is a member of the group, of itself or by the groups around it. */
  isMember(groupId: number, inherited: boolean): boolean;
};

const ADMIN = 60;

const admits = (entry: Access, deployer: Deployer): boolean => {
  const { access_level: level, user_id, group_id, group_inheritance_type } = entry;
  if (level !== null) return level === ADMIN ? false : deployer.role >= level;
  if (user_id !== null) return user_id === deployer.id;
  return group_id !== null && deployer.isMember(group_id, group_inheritance_type === 1);
};

export type Environment = { name: string; tier: string };

export const meets = (
  { project_id, name }: Pick<Protection, 'project_id' | 'name'>,
  environment: Environment,
): boolean => name === (project_id === null ? environment.tier : environment.name);

/** Administrators are among all. */
export const isAdmitted = (entries: readonly Access[], deployer: Deployer): boolean =>
  deployer.admin || entries.some((entry) => admits(entry, deployer));

/** Whether all that protects the environment lets the user deploy to it; administrators always may. */
export const mayDeploy = (
  protections: readonly Protection[],
  environment: Environment,
  deployer: Deployer,
): boolean =>
  protections
    .filter((each) => meets(each, environment))
    .every(({ entries }) => isAdmitted(entries, deployer));
