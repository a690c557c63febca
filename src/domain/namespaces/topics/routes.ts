/** Topics: everybody reads them, administrators write them. */
import { anyone, onInstance } from '../../../kernel/access/access.ts';
import { avatarResponse } from '../../../kernel/api/avatar-response.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { fileRoute } from '../../../kernel/api/file-route.ts';
import { avatarChange } from '../../../kernel/files/pictures.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { notFound } from '../../../platform/failure.ts';
import type { Route } from '../../../platform/http/server/server.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createTopic, deleteTopic, mergeTopics, updateTopic } from './actions.ts';
import { presentTopic } from './present.ts';
import { selectTopic, selectTopics } from './queries.ts';
import { CreateTopic, ListTopics, MergeTopics, OneTopic, TopicRecord, UpdateTopic } from './schema.ts';

const around = ({ services, settings }: { services: Needs<'baseUrl'>; settings: ApplicationSettings }) => ({
  baseUrl: services.baseUrl(),
  settings,
});

/** A picture and the fields around it, in bytes. */
const bodyLimit = 1_048_576;

export const topicEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/topics',
    summary: 'Topics, those of the most public projects first.',
    access: anyone,
    page: 'offset',
    input: ListTopics,
    item: TopicRecord,
    handle: async (context) => {
      const topics = await selectTopics(context.db, context.input, context.page);
      return mapPage(topics, (row) => presentTopic(around(context), row));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/topics/:id',
    summary: 'One topic.',
    access: anyone,
    input: OneTopic,
    reply: TopicRecord,
    handle: async (context) =>
      presentTopic(around(context), found(await selectTopic(context.db, context.input.id), 'Topic')),
  }),
  endpoint({
    method: 'POST',
    path: '/topics',
    summary: 'Makes a topic.',
    access: onInstance,
    input: CreateTopic,
    bodyLimit,
    reply: TopicRecord,
    handle: async (context) => {
      const { db, services, actor, input } = context;
      return presentTopic(
        around(context),
        await createTopic(db, actor, { ...input, avatar: avatarChange(services, input.avatar) }),
      );
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/topics/:id',
    summary: 'Changes a topic; what is not sent stays as it is. The projects that have it follow a new name.',
    access: onInstance,
    input: UpdateTopic,
    bodyLimit,
    reply: TopicRecord,
    handle: async (context) => {
      const { db, services, actor, input } = context;
      const { id, ...changes } = input;
      return presentTopic(
        around(context),
        await updateTopic(db, actor, id, { ...changes, avatar: avatarChange(services, changes.avatar) }),
      );
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/topics/:id',
    summary: 'Deletes a topic, and takes it from the projects that have it.',
    access: onInstance,
    input: OneTopic,
    reply: noContent,
    handle: async ({ db, actor, input, unmodified }) => {
      await deleteTopic(db, actor, input.id, unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'POST',
    path: '/topics/merge',
    summary: 'Gives the projects of one topic another one, and deletes the first.',
    access: onInstance,
    input: MergeTopics,
    reply: TopicRecord,
    handle: async (context) =>
      presentTopic(around(context), await mergeTopics(context.db, context.actor, context.input)),
  }),
];

/** The pictures in records of topics. */
export const topicRoutes = (
  services: Needs<'blobs' | 'config' | 'database' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Route[] => [
  fileRoute(services, {
    path: '/uploads/-/system/projects/topic/avatar/:id/:filename',
    open: true,
    async handle({ params: { id = '', filename } }) {
      if (!/^\d{1,15}$/.test(id)) throw notFound();
      const topic = await selectTopic(services.database.db, Number(id));
      return avatarResponse(services, topic?.avatar ?? null, filename);
    },
  }),
];
