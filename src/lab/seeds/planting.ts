/** What the parts of a planting share: who acts, what differs, and what groups and projects both have. */
import { isDeepStrictEqual } from 'node:util';
import { OWNER } from '../../kernel/policy/roles.ts';
import { Failure } from '../../platform/failure.ts';
import type { Api, Persons, SeedApp } from './api.ts';
import { type Seed, SeedError } from './parse.ts';
import type { Path } from './read-document.ts';
import { parentPath } from './references.ts';
import type { Role, SeedGroup } from './schema.ts';
import type { Signer } from './write-history.ts';

export const ROOT = 'root';

export type Planting = {
  app: SeedApp;
  seed: Seed;
  persons: Persons;
  signer: Signer;
  /** Ids of what is there already, by username. */
  users: Map<string, number>;
  groups: Map<string, SeedGroup>;
  groupIds: Map<string, number>;
};

export const levels: Record<Role, number> = {
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: OWNER,
};

/** A refusal of the API is told with its place in the document. */
export async function within<T>(seed: Seed, path: Path, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SeedError || !(error instanceof Failure)) throw error;
    throw seed.complain(path, inWords(error));
  }
}

/** `{name: ['is taken']}` as `name is taken`. */
function inWords({ publicMessage }: Failure): string {
  const said = (value: unknown, name: string): string[] => {
    if (typeof value === 'string') return [`${name} ${value}`.trim()];
    if (Array.isArray(value)) return value.flatMap((each) => said(each, name));
    return Object.entries(value ?? {}).flatMap(([key, below]) => said(below, `${name} ${key}`.trim()));
  };
  return said(publicMessage, '').join('; ');
}

/** What is wished otherwise than it is; nothing is wished of what the document does not say. */
export function differences(
  record: Readonly<Record<string, unknown>>,
  wished: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const changed = Object.entries(wished).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(record[name] ?? null, value ?? null),
  );
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

/** Without those that are undefined: the API would take them for given. */
export const given = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Who makes what is described: its first owner, then that of what it is in, then root. */
export function creatorOf(
  planting: Planting,
  members: Readonly<Record<string, Role>> = {},
  above: string,
): string {
  const ownerAmong = (all: Readonly<Record<string, Role>> = {}): string | undefined =>
    Object.keys(all).find((name) => all[name] === 'owner');
  let found = ownerAmong(members);
  for (let path = above; found === undefined && path !== ''; path = parentPath(path))
    found = ownerAmong(planting.groups.get(path.toLowerCase())?.members);
  return found ?? ROOT;
}

/** Members that are not described stay. */
export async function plantMembers(
  { users }: Planting,
  api: Api,
  place: string,
  id: number,
  members: Readonly<Record<string, Role>> = {},
): Promise<void> {
  const names = Object.keys(members);
  if (names.length === 0) return;
  const there = await api.all<{ id: number; access_level: number }>(`GET ${place}/members`, { id });
  for (const name of names) {
    const user_id = users.get(name.toLowerCase()) ?? 0;
    const access_level = levels[members[name] ?? 'guest'];
    const member = there.find((each) => each.id === user_id);
    if (!member) await api.change(`POST ${place}/members`, { id, user_id, access_level });
    else if (member.access_level !== access_level)
      await api.change(`PUT ${place}/members/:user_id`, { id, user_id, access_level });
  }
}

const DEFAULT_COLOR = '#428bca';

/** Labels and milestones. */
export async function plantPlanning(
  api: Api,
  place: string,
  id: number,
  { labels = [], milestones = [] }: Pick<SeedGroup, 'labels' | 'milestones'>,
  isNew: boolean,
): Promise<void> {
  type Label = { id: number; name: string };
  const knownLabels =
    isNew || labels.length === 0
      ? []
      : await api.all<Label>(`GET ${place}/labels`, { id, include_ancestor_groups: false });
  for (const { name, color = DEFAULT_COLOR, description } of labels) {
    const there = knownLabels.find((label) => label.name === name);
    const changed = there && differences(there, { color, description });
    if (!there) await api.change(`POST ${place}/labels`, { id, ...given({ name, color, description }) });
    else if (changed) await api.change(`PUT ${place}/labels/:name`, { id, name, ...changed });
  }
  type Milestone = { id: number; title: string; state: string };
  const knownMilestones =
    isNew || milestones.length === 0 ? [] : await api.all<Milestone>(`GET ${place}/milestones`, { id });
  for (const { state = 'active', ...milestone } of milestones) {
    const there = knownMilestones.find(({ title }) => title === milestone.title);
    const made = there ?? (await api.change<Milestone>(`POST ${place}/milestones`, { id, ...milestone }));
    const state_event = made.state === state ? undefined : state === 'closed' ? 'close' : 'activate';
    const changed = { ...(there && differences(there, milestone)), ...given({ state_event }) };
    if (Object.keys(changed).length > 0)
      await api.change(`PUT ${place}/milestones/:milestone_id`, { id, milestone_id: made.id, ...changed });
  }
}
