/** Reads groups, labels and users for payloads. */
import { type UserBasicRow, userBasicColumns } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { GroupPartRow, LabelPartRow } from './parts.ts';

type Labelled = { issue_id: number } | { merge_request_id: number };

/** The labels of an issue or merge request, by name, and those of the given ids. */
export async function selectLabelParts(
  db: Db,
  target: Labelled,
  goneIds: readonly number[],
): Promise<{ labels: LabelPartRow[]; goneLabels: LabelPartRow[] }> {
  const [column, id] =
    'issue_id' in target
      ? (['issue_id', target.issue_id] as const)
      : (['merge_request_id', target.merge_request_id] as const);
  const labels = await db
    .selectFrom('labels')
    .innerJoin('label_links', 'label_links.label_id', 'labels.id')
    .selectAll('labels')
    .where(`label_links.${column}`, '=', id)
    .orderBy('labels.name')
    .execute();
  const goneLabels =
    goneIds.length === 0
      ? []
      : await db
          .selectFrom('labels')
          .selectAll()
          .where('id', 'in', [...goneIds])
          .orderBy('name')
          .execute();
  return { labels, goneLabels };
}

export const selectUserParts = (db: Db, ids: readonly number[]): Promise<UserBasicRow[]> =>
  db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('id', 'in', [...new Set(ids)])
    .execute();

export const selectGroupPart = (db: Db, id: number): Promise<GroupPartRow | undefined> =>
  db
    .selectFrom('namespaces')
    .select(['id', 'name', 'path', 'full_path'])
    .where('id', '=', id)
    .where('kind', '=', 'group')
    .executeTakeFirst();
