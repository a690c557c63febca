/** Snippets in moves between storages. */
import { sql } from 'kysely';
import Type from 'typebox';
import { found } from '../../../kernel/api/endpoint.ts';
import type { MovableContainers } from '../../repositories/index.ts';
import { isMovedSnippetThere, selectReadySnippet, selectSnippetRows } from '../queries.ts';
import { BasicSnippetRecord, presentBasicSnippets } from '../snippet-records.ts';

export const movableSnippets: MovableContainers = {
  kind: 'snippet',
  noun: 'snippet',
  reference: Type.Integer(),
  async find({ database }, _actor, reference) {
    const snippet = await selectReadySnippet(database.db, Number(reference));
    return found(snippet, 'Snippet').id;
  },
  isThere: sql`c.ready`,
  isShown: isMovedSnippetThere,
  record: BasicSnippetRecord,
  async present(db, baseUrl, ids) {
    const rows = await selectSnippetRows(db, ids);
    const records = await presentBasicSnippets(db, baseUrl, rows);
    return new Map(records.map((record) => [record.id, record]));
  },
};
