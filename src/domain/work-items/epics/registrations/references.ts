/** References to epics in texts: `&1` is an epic of the project's group. */

import { type AuthorizedGroup, selectGroups } from '../../../../kernel/access/find.ts';
import type { Caller } from '../../../../kernel/actor.ts';
import type { Db } from '../../../../platform/db/database.ts';
import type { Sql } from '../../../../platform/db/driver/sql.ts';
import {
  type Link,
  link,
  type Reference,
  type ReferenceDefinition,
  type RenderContext,
} from '../../../markdown/index.ts';
import { epicWebUrl } from '../records/epic-rows.ts';
import { seesEpic } from '../records/visibility-queries.ts';
import { type ReferencedEpic, selectReferenced } from './queries.ts';

type PlacedEpic<Named> = { named: Named; group: AuthorizedGroup; epic: ReferencedEpic };

/** The epics that a text of the group of this path names, as far as the reader sees them; with what named them. */
export async function findNamedEpics<Named extends { path: string | undefined; name: string }>(
  { db, points }: { db: Db; points: Sql },
  reader: Caller,
  home: string | undefined,
  named: readonly Named[],
): Promise<PlacedEpic<Named>[]> {
  const pathOf = ({ path }: Named): string | undefined => (path ?? home)?.toLowerCase();
  const paths = new Set(named.flatMap((each) => pathOf(each) ?? []));
  const groups = await selectGroups(points, reader, 'read_epics', [...paths]);
  const placed = named.flatMap((each) => {
    const group = groups.get(pathOf(each) ?? '');
    return group ? [{ named: each, group }] : [];
  });
  if (placed.length === 0) return [];
  const rows = await selectReferenced(
    db,
    placed.map(({ group }) => group.id),
    placed.map((each) => Number(each.named.name)),
  );
  return placed.flatMap(({ named: each, group }) => {
    const epic = rows.find((row) => row.namespace_id === group.id && row.iid === Number(each.name));
    return epic && seesEpic(group, epic) ? [{ named: each, group, epic }] : [];
  });
}

async function findEpics(context: RenderContext, references: readonly Reference[]): Promise<Link[]> {
  const { services, reader, project } = context;
  const home = project?.row.namespace_full_path;
  const { db, sql } = services.database;
  const found = await findNamedEpics({ db, points: sql }, reader, home, references);
  return found.map(({ group, named: reference, epic }): Link => {
    const path = group.row.full_path;
    const shown = reference.address ? `${path === home ? '' : path}&${epic.iid}` : reference.text;
    const text = epic.state === 'closed' ? `${shown} (closed)` : shown;
    const href = epicWebUrl(services.baseUrl(), path, epic.iid);
    return [reference, link({ href, kind: 'epic', title: epic.title, text })];
  });
}

export const epicReferences: ReferenceDefinition = { kind: 'epic', find: findEpics };
