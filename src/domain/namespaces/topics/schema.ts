/** Topics in requests and in responses. */
import Type, { type Static } from 'typebox';
import { avatarFile } from '../../../kernel/files/pictures.ts';
import { TopicName } from '../../../kernel/namespaces/topic-actions.ts';
import { integerId, nullable } from '../../../platform/http/parameters/schema.ts';

export const TopicRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  title: Type.String(),
  description: nullable(Type.String()),
  total_projects_count: Type.Integer({ description: 'Of public projects.' }),
  organization_id: Type.Integer(),
  avatar_url: nullable(Type.String()),
});
export type TopicRecord = Static<typeof TopicRecord>;

const organization_id = Type.Optional(Type.Integer({ description: 'There is one organization: 1.' }));
const name = Type.String({
  ...TopicName,
  minLength: 1,
  description: 'As projects have it, in any capitals.',
});
const title = Type.String({ minLength: 1, maxLength: 255 });
const others = {
  description: Type.Optional(nullable(Type.String({ maxLength: 1_024 }))),
  avatar: Type.Optional(avatarFile),
};
const id = integerId({ description: 'The id of a topic.' });

export const ListTopics = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 1_000, description: 'A part of the name or title.' })),
  without_projects: Type.Optional(Type.Boolean({ description: 'Only topics that no project has.' })),
  organization_id,
});
export type ListTopics = Static<typeof ListTopics>;

export const OneTopic = Type.Object({ id });

export const CreateTopic = Type.Object({ name, title, ...others, organization_id });
export type CreateTopic = Static<typeof CreateTopic>;

export const UpdateTopic = Type.Object({
  id,
  name: Type.Optional(name),
  title: Type.Optional(title),
  ...others,
});
export type TopicChanges = Omit<Static<typeof UpdateTopic>, 'id'>;

export const MergeTopics = Type.Object({
  source_topic_id: integerId({ description: 'The topic that goes.' }),
  target_topic_id: integerId({ description: 'The topic that gets its projects.' }),
});
export type MergeTopics = Static<typeof MergeTopics>;
