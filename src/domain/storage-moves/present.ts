/** Moves as the API shows them, each with its container: loaded once for a page. */
import type { Static } from 'typebox';
import { presentBasicGroup } from '../../core/namespaces/group-records.ts';
import { presentProjectIdentity } from '../../core/namespaces/project-records.ts';
import type { MoveRow } from '../../core/repositories/move-schedule.ts';
import { presentBasicSnippets } from '../../core/repositories/snippet-records.ts';
import type { Db } from '../../platform/db/database.ts';
import { selectGroups, selectProjects, selectSnippets } from './queries.ts';
import type { moveRecords } from './schema.ts';

type Records = { [Kind in keyof typeof moveRecords]: Static<(typeof moveRecords)[Kind]> };

/** Presents rows of one kind, in their order. */
export type PresentMoves<Kind extends keyof Records> = (
  db: Db,
  baseUrl: string,
  rows: readonly MoveRow[],
) => Promise<Records[Kind][]>;

const fieldsOf = (row: MoveRow) => ({
  id: row.id,
  created_at: row.created_at.toISOString(),
  state: row.state,
  source_storage_name: row.source_storage_name,
  destination_storage_name: row.destination_storage_name,
  error_message: row.error_message,
});

/** The ids of the containers, and one that none has: a statement's list must not be empty. */
const idsOf = (rows: readonly MoveRow[]): number[] => [0, ...new Set(rows.map((row) => row.container_id))];

/** Each row with its container; one whose container is gone is left out. */
function join<T extends { id: number }, Record>(
  rows: readonly MoveRow[],
  containers: readonly T[],
  present: (row: MoveRow, container: T) => Record,
): Record[] {
  const byId = new Map(containers.map((container) => [container.id, container]));
  return rows.flatMap((row) => {
    const container = byId.get(row.container_id);
    return container ? [present(row, container)] : [];
  });
}

export const presentMoves: { [Kind in keyof Records]: PresentMoves<Kind> } = {
  project: async (db, _baseUrl, rows) =>
    join(rows, await selectProjects(db, idsOf(rows)), (row, project) => ({
      ...fieldsOf(row),
      project: presentProjectIdentity(project),
    })),
  snippet: async (db, baseUrl, rows) =>
    join(
      rows,
      await presentBasicSnippets(db, baseUrl, await selectSnippets(db, idsOf(rows))),
      (row, snippet) => ({ ...fieldsOf(row), snippet }),
    ),
  group: async (db, baseUrl, rows) =>
    join(rows, await selectGroups(db, idsOf(rows)), (row, group) => ({
      ...fieldsOf(row),
      group: presentBasicGroup({ baseUrl }, group),
    })),
};
