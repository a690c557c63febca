/** By what all parts of a written seed read, and in which form they say it. */
import type { Api, SeedApp } from './api.ts';
import { DEFAULT_BRANCH } from './history.ts';
import { levels } from './planting.ts';
import type { Room } from './read-history.ts';
import type { Role, SeedGroup } from './schema.ts';
import { tokenDigests } from './secret-queries.ts';

/** What all parts read by. */
export type Reading = { app: SeedApp; api: Api; usernames: ReadonlySet<string>; room: Room };

export async function inOrder<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** Without what says nothing: what is undefined or null, empty, or a usual value. */
export function filled<T extends object>(
  values: { [Key in keyof T]: T[Key] | null | undefined },
  usual: object = {},
): T {
  const said = Object.entries(values).filter(([key, value]) => {
    if (value === undefined || value === null || value === '') return false;
    if (Array.isArray(value) && value.length === 0) return false;
    return (usual as Record<string, unknown>)[key] !== value;
  });
  return Object.fromEntries(said) as T; // the type says which of them may be absent
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export type TokenRecord = {
  id: number;
  name: string;
  scopes: string[];
  expires_at: string | null;
  access_level?: number;
};

export async function tokensOf<T extends { name: string }>(
  app: SeedApp,
  tokens: readonly TokenRecord[],
): Promise<T[]> {
  const digests = await tokenDigests(
    app.services.database.db,
    tokens.map(({ id }) => id),
  );
  return tokens
    .toSorted((left, right) => left.id - right.id)
    .map(({ id, name, scopes, expires_at, access_level }) =>
      filled<T>({ name, sha256: digests.get(id), role: roleOf(access_level), scopes, expires_at } as never),
    );
}

const roleOf = (level: number | undefined): Role | undefined =>
  (Object.keys(levels) as Role[]).find((role) => levels[role] === level);

export const usualOf = (path: string) => ({
  name: lastOf(path),
  visibility: 'private',
  default_branch: DEFAULT_BRANCH,
});

export async function one<T>(
  { api }: Reading,
  name: string,
  parameters: Record<string, unknown>,
): Promise<T> {
  const found = await api.find<T>(name, parameters);
  if (!found) throw new Error(`nothing at ${name} any more`);
  return found;
}

export async function membersOf({ api, usernames }: Reading, place: string, id: number) {
  const members = await api.all<{ username: string; access_level: number }>(`GET ${place}/members`, { id });
  const described = members.flatMap(({ username, access_level }) => {
    const role = roleOf(access_level);
    return role && usernames.has(username) ? [[username, role] as const] : [];
  });
  return described.length > 0 ? Object.fromEntries(described.sort()) : undefined;
}

export async function planningOf(
  { api }: Reading,
  place: string,
  id: number,
): Promise<Pick<SeedGroup, 'labels' | 'milestones'>> {
  type Label = { name: string; color: string; description: string | null };
  const labels = await api.all<Label & { is_project_label?: boolean }>(`GET ${place}/labels`, {
    id,
    include_ancestor_groups: false,
  });
  type Milestone = {
    id: number;
    title: string;
    description: string | null;
    start_date: string | null;
    due_date: string | null;
    state: 'active' | 'closed';
  };
  const milestones = await api.all<Milestone>(`GET ${place}/milestones`, { id });
  return {
    labels: labels.map(({ name, color, description }) =>
      filled<NonNullable<SeedGroup['labels']>[number]>({ name, color, description }),
    ),
    milestones: milestones
      .sort((left, right) => left.id - right.id)
      .map(({ title, description, start_date, due_date, state }) =>
        filled<NonNullable<SeedGroup['milestones']>[number]>(
          { title, description, start_date, due_date, state },
          { state: 'active' },
        ),
      ),
  };
}
