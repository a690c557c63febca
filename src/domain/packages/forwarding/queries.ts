/** Levels at which programs ask for packages: what groups say of them, and which names they know, whoever asks. */
import { type RawBuilder, sql } from 'kysely';
import { belowGroup, belowRoot } from '../../../kernel/access/project-list-queries.ts';
import type { Db } from '../../../platform/db/database.ts';
import { aboveGroup, aboveProject, atRoot } from '../records/settings-queries.ts';
import type { ForwardedFormat } from './rules.ts';

export type Level = {
  /** The ids of the namespaces that rule over it. */
  above: RawBuilder<unknown>;
  /** Of its projects. */
  among: RawBuilder<unknown>;
};

export const levelOfProject = ({ id }: { id: number }): Level => ({
  above: aboveProject(id),
  among: sql`p.id = ${id}`,
});
export const levelOfGroup = ({ groupId }: { groupId: number }): Level => ({
  above: aboveGroup(groupId),
  among: belowGroup(groupId),
});
/** The instance, where names are those of the group or user of this path. */
export const levelOfRoot = (path: string): Level => ({
  above: atRoot(path.toLowerCase()),
  among: belowRoot(path.toLowerCase()),
});

/** Of all statuses, in any case of its letters, and also where the caller reads nothing. */
export async function selectIsKnown(
  db: Db,
  { among }: Level,
  type: ForwardedFormat,
  name: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from packages k join projects p on p.id = k.project_id
    where k.package_type = ${type} and lower(k.name) = lower(${name}::text collate "C") and ${among} limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
