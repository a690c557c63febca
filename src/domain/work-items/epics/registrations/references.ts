/** References to epics in texts: `&1` is an epic of the project's group. */

import { selectGroups } from '../../../../kernel/access/find.ts';
import {
  type Link,
  link,
  type Reference,
  type ReferenceDefinition,
  type RenderContext,
} from '../../../markdown/index.ts';
import { epicWebUrl } from '../records/epic-rows.ts';
import { seesEpic } from '../records/visibility-queries.ts';
import { selectReferenced } from './queries.ts';

async function findEpics(context: RenderContext, references: readonly Reference[]): Promise<Link[]> {
  const { services, reader, project } = context;
  const home = project?.row.namespace_full_path;
  const pathOf = ({ path }: Reference): string | undefined => (path ?? home)?.toLowerCase();
  const paths = new Set(references.flatMap((reference) => pathOf(reference) ?? []));
  const groups = await selectGroups(services.database.sql, reader, 'read_epics', [...paths]);
  const placed = references.flatMap((reference) => {
    const group = groups.get(pathOf(reference) ?? '');
    return group ? { reference, group } : [];
  });
  if (placed.length === 0) return [];
  const groupIds = placed.map(({ group }) => group.id);
  const numbers = placed.map(({ reference }) => Number(reference.name));
  const rows = await selectReferenced(services.database.db, groupIds, numbers);
  return placed.flatMap(({ group, reference }): Link[] => {
    const epic = rows.find((row) => row.namespace_id === group.id && row.iid === Number(reference.name));
    if (!epic || !seesEpic(group, epic)) return [];
    const path = group.row.full_path;
    const shown = reference.address ? `${path === home ? '' : path}&${epic.iid}` : reference.text;
    const text = epic.state === 'closed' ? `${shown} (closed)` : shown;
    const href = epicWebUrl(services.baseUrl(), path, epic.iid);
    return [[reference, link({ href, kind: 'epic', title: epic.title, text })]];
  });
}

export const epicReferences: ReferenceDefinition = { kind: 'epic', find: findEpics };
