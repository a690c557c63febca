/** Makes broadcast messages, changes and deletes them; all processes show the change when it is acknowledged. */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { type ChangeServices, changeInstance, instanceEntity } from '../changes.ts';
import { type BroadcastRow, lockBroadcast } from './queries.ts';
import type { BroadcastChanges, CreateBroadcast } from './schema.ts';

const HOUR_MS = 3_600_000;

const audit = (tx: Db, author: Actor, event: string, { id, message }: BroadcastRow): Promise<void> =>
  announce(tx, {
    author,
    audit: {
      entity: instanceEntity,
      event,
      details: {
        target_id: id,
        target_type: 'System::BroadcastMessage',
        target_details: message.slice(0, 255),
      },
    },
  });

export const createBroadcast = (
  services: ChangeServices,
  db: Db,
  actor: Actor,
  input: CreateBroadcast,
): Promise<BroadcastRow> =>
  changeInstance(services, () =>
    inTransaction(db, async (tx) => {
      const time = now();
      const row = await tx
        .insertInto('broadcast_messages')
        .values({
          message: input.message,
          starts_at: input.starts_at === undefined ? time : new Date(input.starts_at),
          ends_at: new Date(input.ends_at ?? time.getTime() + HOUR_MS),
          color: input.color ?? '#E75E40',
          font: input.font ?? '#FFFFFF',
          target_access_levels: input.target_access_levels ?? [],
          target_path: input.target_path ?? null,
          broadcast_type: input.broadcast_type ?? 'banner',
          theme: input.theme ?? 'indigo',
          dismissable: input.dismissable ?? false,
          created_at: time,
          updated_at: time,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await audit(tx, actor, 'broadcast_message_created', row);
      return row;
    }),
  );

/** Changes the properties that the request names. */
export const updateBroadcast = (
  services: ChangeServices,
  db: Db,
  actor: Actor,
  id: number,
  { starts_at, ends_at, ...changes }: BroadcastChanges,
): Promise<BroadcastRow> =>
  changeInstance(services, () =>
    inTransaction(db, async (tx) => {
      const row = await tx
        .updateTable('broadcast_messages')
        .set({
          ...changes,
          ...(starts_at !== undefined && { starts_at: new Date(starts_at) }),
          ...(ends_at !== undefined && { ends_at: new Date(ends_at) }),
          updated_at: now(),
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      const changed = found(row, 'BroadcastMessage');
      await audit(tx, actor, 'broadcast_message_updated', changed);
      return changed;
    }),
  );

export const deleteBroadcast = (
  services: ChangeServices,
  db: Db,
  actor: Actor,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  changeInstance(services, () =>
    inTransaction(db, async (tx) => {
      const row = found(await lockBroadcast(tx, id), 'BroadcastMessage');
      unmodified(row.updated_at);
      await ahead(tx).deleteFrom('broadcast_messages').where('id', '=', id).execute();
      await audit(tx, actor, 'broadcast_message_deleted', row);
    }),
  );
