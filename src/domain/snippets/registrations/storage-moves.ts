/** Snippets in moves between storages. */
import { sql } from 'kysely';
import Type from 'typebox';
import { found } from '../../../kernel/api/endpoint.ts';
import type { MovableContainers } from '../../repositories/index.ts';
import { BasicSnippetRecord, presentBasicSnippets } from '../snippet-records.ts';

export const movableSnippets: MovableContainers = {
  kind: 'snippet',
  noun: 'snippet',
  reference: Type.Integer(),
  async find({ database }, _actor, reference) {
    const snippet = await database.db
      .selectFrom('snippets')
      .select('id')
      .where('id', '=', Number(reference))
      .where('ready', '=', true)
      .executeTakeFirst();
    return found(snippet, 'Snippet').id;
  },
  isThere: sql`c.ready`,
  isShown: sql`exists (select from snippets c where c.id = container_id)`,
  record: BasicSnippetRecord,
  async present(db, baseUrl, ids) {
    const rows = await db.selectFrom('snippets').selectAll().where('id', 'in', ids).execute();
    const records = await presentBasicSnippets(db, baseUrl, rows);
    return new Map(records.map((record) => [record.id, record]));
  },
};
