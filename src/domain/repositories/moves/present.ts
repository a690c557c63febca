/** Moves as the API shows them, each with its container: loaded once for a page. */
import type { Static } from 'typebox';
import type { Db } from '../../../platform/db/database.ts';
import type { MovableContainers } from './movable-containers.ts';
import type { MoveRow } from './schedule-actions.ts';
import type { moveRecordOf } from './schema.ts';

type MoveRecord = Static<ReturnType<typeof moveRecordOf>>;

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

/** The records in the order of the rows; a move whose container is gone is left out. */
export async function presentMoves(
  db: Db,
  baseUrl: string,
  { kind, present }: MovableContainers,
  rows: readonly MoveRow[],
): Promise<MoveRecord[]> {
  const containers = await present(db, baseUrl, idsOf(rows));
  return rows.flatMap((row) => {
    const container = containers.get(row.container_id);
    return container ? [{ ...fieldsOf(row), [kind]: container }] : [];
  });
}
