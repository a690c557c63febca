/** Labels of projects and of groups: the same endpoints, mounted for both. */
import type { TUnsafe } from 'typebox';
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import type { ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { createLabel, deleteLabel, subscribe, updateLabel } from './actions.ts';
import { presentLabel, presentLabels } from './present.ts';
import { promoteLabel } from './promotion-actions.ts';
import { selectLabel, selectLabels } from './queries.ts';
import {
  CreateInput,
  DeleteEitherInput,
  GroupLabelRecord,
  type LabelRecord,
  ListInput,
  NameInput,
  nameOf,
  OneInput,
  ProjectLabelRecord,
  SubscribableInput,
  updateEitherInput,
  updateInput,
} from './schema.ts';

type Home = {
  word: 'project' | 'group';
  path: '/projects/:id/labels' | '/groups/:id/labels';
  read: Access<ResourceParent, Caller>;
  manage: Access<ResourceParent, Actor>;
  subscribe: Access<ResourceParent, Actor>;
  record: TUnsafe<LabelRecord>;
};

const project: Home = {
  word: 'project',
  path: '/projects/:id/labels',
  read: onProject('read_planning'),
  manage: onProject('manage_labels'),
  subscribe: onProject('subscribe_to_labels'),
  record: ProjectLabelRecord,
};

const group: Home = {
  word: 'group',
  path: '/groups/:id/labels',
  read: onGroup('read_planning'),
  manage: onGroup('manage_labels'),
  subscribe: onGroup('subscribe_to_labels'),
  record: GroupLabelRecord,
};

const readEndpoints = ({ word, path, read, record }: Home) => ({
  list: listing({
    method: 'GET',
    path,
    summary: `Labels of a ${word}, by name.`,
    access: read,
    page: 'offset',
    input: ListInput,
    item: record,
    handle: async (context) => {
      const { db, actor, subject, input, page } = context;
      const labels = await selectLabels(db, actor, subject, input, page);
      return { ...labels, items: await presentLabels(context, subject, labels.items, input.with_counts) };
    },
  }),
  one: endpoint({
    method: 'GET',
    path: `${path}/:name`,
    summary: `One label of a ${word}.`,
    access: read,
    input: OneInput,
    reply: record,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const label = found(await selectLabel(db, actor, subject, input.name, input), 'Label');
      return presentLabel(context, subject, label);
    },
  }),
});

/** Reading, by what the labels belong to. */
export const labelReadsOf = { project: readEndpoints(project), group: readEndpoints(group) };

const createEndpoint = ({ word, path, manage, record }: Home): Endpoint =>
  endpoint({
    method: 'POST',
    path,
    summary: `Makes a label of a ${word}.`,
    access: manage,
    also: [409],
    input: CreateInput,
    reply: record,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      return presentLabel(context, subject, await createLabel(db, actor, subject, input));
    },
  });

const updateEndpoints = ({ word, path, manage, record }: Home): Endpoint[] => [
  endpoint({
    method: 'PUT',
    path: `${path}/:name`,
    summary: `Changes a label of a ${word}; what is not sent stays as it is.`,
    access: manage,
    also: [409],
    input: updateInput(word),
    reply: record,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { name, ...changes } = input;
      return presentLabel(context, subject, await updateLabel(db, actor, subject, name, changes));
    },
  }),
  endpoint({
    method: 'PUT',
    path,
    summary: `Changes a label of a ${word} that is named beside the path.`,
    access: manage,
    also: [409],
    deprecated: { use: `PUT ${path}/:name` },
    input: updateEitherInput(word),
    reply: record,
    handle: async (context) => {
      const { db, actor, subject, input } = context;
      const { label_id, name, ...changes } = input;
      const named = nameOf({ label_id, name });
      return presentLabel(context, subject, await updateLabel(db, actor, subject, named, changes));
    },
  }),
];

const deleteEndpoints = ({ word, path, manage }: Home): Endpoint[] => [
  endpoint({
    method: 'DELETE',
    path: `${path}/:name`,
    summary: `Deletes a label of a ${word}.`,
    access: manage,
    input: NameInput,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await deleteLabel(db, actor, subject, input.name, unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'DELETE',
    path,
    summary: `Deletes a label of a ${word} that is named beside the path.`,
    access: manage,
    deprecated: { use: `DELETE ${path}/:name` },
    input: DeleteEitherInput,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await deleteLabel(db, actor, subject, nameOf(input), unmodified);
      return null;
    },
  }),
];

const subscriptionEndpoints = (home: Home): Endpoint[] =>
  (['subscribe', 'unsubscribe'] as const).map((verb) =>
    endpoint({
      method: 'POST',
      path: `${home.path}/:subscribable_id/${verb}`,
      summary:
        verb === 'subscribe'
          ? `Makes the caller hear of what gets a label of a ${home.word}; 304 where that is so.`
          : `Ends the caller's subscription to a label of a ${home.word}; 304 without one.`,
      access: home.subscribe,
      also: [304],
      input: SubscribableInput,
      reply: home.record,
      handle: async (context) => {
        const { db, actor, subject, input } = context;
        const scope = { include_ancestor_groups: true };
        const label = found(await selectLabel(db, actor, subject, input.subscribable_id, scope), 'Label');
        const changed = await subscribe(db, actor, subject, label, verb === 'subscribe');
        return changed ? presentLabel(context, subject, label) : new Reply(304);
      },
    }),
  );

const promotionEndpoints: Endpoint[] = ['/:name/promote', '/promote'].map((path) =>
  endpoint({
    method: 'PUT',
    path: `${project.path}${path}`,
    summary:
      "Makes a project's label its group's, and those of the same name in the group's projects with it.",
    access: onProject('manage_labels'),
    ...(path === '/promote' && { deprecated: { use: `PUT ${project.path}/:name/promote` } }),
    input: NameInput,
    reply: GroupLabelRecord,
    handle: async (context) => {
      const { db, services, actor, subject, input } = context;
      const promoted = await promoteLabel({ db, services }, actor, subject, input.name);
      return presentLabel(context, promoted.group, promoted.label);
    },
  }),
);

export const labelEndpoints: Endpoint[] = [
  ...[project, group].flatMap((home) => [
    ...Object.values(labelReadsOf[home.word]),
    createEndpoint(home),
    ...updateEndpoints(home),
    ...deleteEndpoints(home),
    ...subscriptionEndpoints(home),
  ]),
  ...promotionEndpoints,
];
