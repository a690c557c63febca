/** Groups, as hooks of the instance and of the groups around are told of them (facts-merge-requests: 10.5, 10.7). */
import { type GroupSnapshot, selectGroupSnapshot } from '../../../kernel/namespaces/snapshot-queries.ts';
import { ALWAYS, type HookEvent, type HookServices, hookSource, namedEvents } from '../../hooks/index.ts';

/** `namespace_id` is the group around, whose hooks are told; of a group that moved it is the group itself. */
type GroupFact = { namespace_id: number | null; group_id?: number; gone?: GroupSnapshot; from?: string };

const readGroup = (services: HookServices, { namespace_id, group_id, gone }: GroupFact) =>
  gone ?? selectGroupSnapshot(services.database.background, group_id ?? namespace_id ?? 0);

const fieldsOf = ({ id, name, path, full_path }: GroupSnapshot) => ({ name, path, full_path, group_id: id });

async function lifeEvents(
  services: HookServices,
  fact: GroupFact,
  what: 'create' | 'destroy',
): Promise<HookEvent[]> {
  const told = await readGroup(services, fact);
  if (!told) return [];
  const fields = fieldsOf(told);
  const { parent } = told;
  if (!parent) return namedEvents(`group_${what}`, told, fields);
  return namedEvents(`group_${what}`, told, fields, {
    flag: 'subgroup_events',
    name: `subgroup_${what}`,
    fields: {
      ...fields,
      parent_group_id: parent.id,
      parent_name: parent.name,
      parent_path: parent.path,
      parent_full_path: parent.full_path,
    },
  });
}

/** Of a group that has another path of its own: one that is in another group keeps its path. */
async function renameEvents(services: HookServices, fact: GroupFact): Promise<HookEvent[]> {
  const told = await readGroup(services, fact);
  const old_full_path = fact.from ?? '';
  const old_path = old_full_path.slice(old_full_path.lastIndexOf('/') + 1);
  if (!told || old_path === told.path) return [];
  return namedEvents('group_rename', told, { ...fieldsOf(told), old_path, old_full_path });
}

const renameOf = (fact: string) => hookSource<GroupFact>({ fact, flags: [ALWAYS], eventsOf: renameEvents });

const lifeOf = (fact: string, what: 'create' | 'destroy') =>
  hookSource<GroupFact>({
    fact,
    flags: [ALWAYS, 'subgroup_events'],
    eventsOf: (services, told) => lifeEvents(services, told, what),
  });

export const groupHooks = [
  lifeOf('group_created', 'create'),
  lifeOf('group_destroyed', 'destroy'),
  renameOf('namespace_moved'),
  renameOf('group_renamed'),
];
