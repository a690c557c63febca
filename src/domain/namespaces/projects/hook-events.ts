/** Projects, as hooks of the instance and of groups are told of them (facts-merge-requests: 10.5, 10.7). */
import { type ProjectSnapshot, selectProjectSnapshot } from '../../../kernel/namespaces/snapshot-queries.ts';
import { visibilityName } from '../../../kernel/policy/roles.ts';
import {
  ALWAYS,
  type HookEvent,
  type HookServices,
  hookEmail,
  hookSource,
  namedEvents,
  readPeople,
} from '../../hooks/index.ts';

type ProjectFact = {
  project_id: number;
  /** What it was, of one that goes. */
  gone?: ProjectSnapshot;
  /** The former path. */
  from?: string;
  is_transfer?: boolean;
};

async function projectEvents(
  services: HookServices,
  { project_id, gone, from }: ProjectFact,
  name: string,
): Promise<HookEvent[]> {
  const told = gone ?? (await selectProjectSnapshot(services.database.background, project_id));
  if (!told) return [];
  const people = await readPeople(services, told.owner_ids);
  const owners = told.owner_ids
    .flatMap((id) => people.get(id) ?? [])
    .map((user) => ({ name: user.name, email: hookEmail(user) }));
  const fields = {
    name: told.name,
    path: told.path,
    path_with_namespace: told.full_path,
    project_id: told.id,
    project_namespace_id: told.namespace_id,
    owners,
    project_visibility: visibilityName(told.visibility),
  };
  const owner = told.group_name === null ? owners[0] : { name: told.group_name, email: '' };
  const more = {
    owner_name: owner?.name ?? null,
    owner_email: owner?.email ?? '',
    ...(from !== undefined && { old_path_with_namespace: from }),
  };
  const isOfGroups = name === 'project_create' || name === 'project_destroy';
  const inside = { flag: 'project_events', fields } as const;
  return namedEvents(name, told, { ...fields, ...more }, isOfGroups ? inside : undefined);
}

/** The names of the events of facts. */
const names: Readonly<Record<string, string | ((fact: ProjectFact) => string)>> = {
  project_created: 'project_create',
  project_updated: 'project_update',
  project_renamed: 'project_rename',
  project_moved: ({ is_transfer }) => (is_transfer ? 'project_transfer' : 'project_rename'),
  project_destroyed: 'project_destroy',
};

export const projectHooks = Object.entries(names).map(([fact, name]) =>
  hookSource<ProjectFact>({
    fact,
    flags: [ALWAYS, 'project_events'],
    eventsOf: (services, told) => projectEvents(services, told, typeof name === 'string' ? name : name(told)),
  }),
);
