/** Statements over broadcast messages. */
import type { Selectable } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { BroadcastMessagesTable } from '../../../platform/db/rows.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

export type BroadcastRow = Selectable<BroadcastMessagesTable>;

/** One page, newest first. */
export const selectBroadcasts = (db: Db, page: PageRequest): Promise<Page<BroadcastRow>> =>
  selectPage(
    db,
    db.selectFrom('broadcast_messages').selectAll(),
    page,
    { by: 'id', sort: 'desc' },
    { id: 'broadcast_messages.id' },
  );

export const selectBroadcast = (db: Db, id: number): Promise<BroadcastRow | undefined> =>
  db.selectFrom('broadcast_messages').selectAll().where('id', '=', id).executeTakeFirst();

/** The message, locked until the transaction ends. */
export const lockBroadcast = (tx: Db, id: number): Promise<BroadcastRow | undefined> =>
  tx.selectFrom('broadcast_messages').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
