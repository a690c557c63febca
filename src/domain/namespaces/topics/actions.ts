/** Changes of topics, and of the projects that have them. */
import { sql } from 'kysely';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { type AvatarChange, keepAvatar } from '../../../kernel/files/pictures.ts';
import { ORGANIZATION_ID } from '../../../kernel/namespaces/group-records.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { Failure, notFound } from '../../../platform/failure.ts';
import { selectTopic, type TopicRow } from './queries.ts';
import type { CreateTopic, MergeTopics, TopicChanges } from './schema.ts';

/** The input with its picture. */
type Pictured<T> = Omit<T, 'avatar'> & { avatar: AvatarChange };

const audit = (tx: Db, author: Actor, event: string, topic: { id: number; name: string }, details = {}) =>
  announce(tx, {
    author,
    audit: {
      entity: { type: 'InstanceScope', id: 1, path: 'instance' },
      event,
      details: { target_id: topic.id, target_type: 'Topic', target_details: topic.name, ...details },
    },
  });

/** Makes a topic; 400 where one has the name, in any capitals. */
export async function createTopic(db: Db, actor: Actor, input: Pictured<CreateTopic>): Promise<TopicRow> {
  const { name, title, description = null, organization_id = ORGANIZATION_ID } = input;
  if (organization_id !== ORGANIZATION_ID) throw notFound('Organization');
  return inTransaction(db, async (tx) => {
    const row = await tx
      .insertInto('topics')
      .values({
        name: name.trim(),
        title,
        description,
        avatar: (await keepAvatar(tx, input.avatar)) ?? null,
        created_at: now(),
        updated_at: now(),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, actor, 'topic_created', row);
    return row;
  });
}

/**
 * The topics, locked against projects that get or lose topics until the commit: one that is written meanwhile
 * would keep the name of no topic.
 */
async function lockTopics<Ids extends readonly number[]>(
  tx: Db,
  ...ids: Ids
): Promise<{ [Key in keyof Ids]: TopicRow }> {
  await sql`lock table topics in share row exclusive mode`.execute(ahead(tx));
  const rows = await tx.selectFrom('topics').selectAll().where('id', 'in', ids).execute();
  const locked = ids.map((id) =>
    found(
      rows.find((row) => row.id === id),
      'Topic',
    ),
  );
  return locked as { [Key in keyof Ids]: TopicRow };
}

/** Changes the properties that the request names. */
export const updateTopic = (
  db: Db,
  actor: Actor,
  id: number,
  input: Pictured<TopicChanges>,
): Promise<TopicRow> =>
  inTransaction(db, async (tx) => {
    const [before] = await lockTopics(tx, id);
    const { title, description } = input;
    const avatar = await keepAvatar(tx, input.avatar);
    const name = input.name?.trim() ?? before.name;
    if (name !== before.name) {
      await sql`
        update projects set topics = array_replace(topics, ${before.name}, ${name})
        where topics @> array[${before.name}]::text[]`.execute(ahead(tx));
    }
    const after = await tx
      .updateTable('topics')
      .set({
        name,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(avatar !== undefined && { avatar }),
        // Projects' triggers lowered it for the old name while the new one did not exist yet.
        public_projects_rank: before.public_projects_rank,
        updated_at: now(),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    for (const change of ['name', 'title', 'description', 'avatar'] as const) {
      const [from, to]: Json[] = [before[change], after[change]];
      if (from !== to) await audit(tx, actor, 'topic_updated', after, { change, from, to });
    }
    return after;
  });

/** Deletes the topic and removes it from its projects. */
export const deleteTopic = (
  db: Db,
  actor: Actor,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const [topic] = await lockTopics(tx, id);
    unmodified(topic.updated_at);
    await sql`
      update projects set topics = array_remove(topics, ${topic.name})
      where topics @> array[${topic.name}]::text[]`.execute(ahead(tx));
    await ahead(tx).deleteFrom('topics').where('id', '=', id).execute();
    await audit(tx, actor, 'topic_deleted', topic);
  });

/** Gives the projects of one topic another, and deletes the first; returns the other after that. */
export async function mergeTopics(db: Db, actor: Actor, input: MergeTopics): Promise<TopicRow> {
  const { source_topic_id, target_topic_id } = input;
  return inTransaction(db, async (tx) => {
    const [source, target] = await lockTopics(tx, source_topic_id, target_topic_id);
    if (source.id === target.id)
      throw new Failure('bad_request', 'The source topic and the target topic are identical.');
    await sql`
      update projects set topics = case
        when topics @> array[${target.name}]::text[] then array_remove(topics, ${source.name})
        else array_replace(topics, ${source.name}, ${target.name}) end
      where topics @> array[${source.name}]::text[]`.execute(ahead(tx));
    await ahead(tx).deleteFrom('topics').where('id', '=', source.id).execute();
    await audit(tx, actor, 'topics_merged', target, { from: source.name, to: target.name });
    return found(await selectTopic(tx, target.id), 'Topic');
  });
}
