/** Kinds of containers as moves between storages find and show them. */
import type { RawBuilder } from 'kysely';
import type { TSchema } from 'typebox';
import type { Actor } from '../../../kernel/actor.ts';
import type { ContainerKind } from '../../../kernel/repository-store.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';

export type MovableContainers = {
  kind: ContainerKind;
  /** What moves, in summaries. */
  noun: string;
  tier?: 'premium';
  /** The parameter that names a container. */
  reference: TSchema;
  /** The id of the container that an administrator names; 404 when there is none. */
  find(services: Needs<'database'>, actor: Actor, reference: string): Promise<number>;
  /** Over the container's row `c`: its readers can see it, and it moves with all of its storage. */
  isThere: RawBuilder<boolean>;
  /** Over a row of storage_moves: the container is there, and its move is shown. */
  isShown: RawBuilder<boolean>;
  /** The container in the record of a move. */
  record: TSchema;
  /** Records by id, in one go for a page; those of containers that are gone are missing. */
  present(db: Db, baseUrl: string, ids: readonly number[]): Promise<Map<number, unknown>>;
};
