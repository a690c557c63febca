/** Milestones of projects and of groups: the same endpoints, mounted for both. */
import { type Access, onGroup, onProject } from '../../../kernel/access/access.ts';
import { parentPath, type ResourceParent } from '../../../kernel/access/resource-parents.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { createMilestone, deleteMilestone, updateMilestone } from './actions.ts';
import { selectMilestone } from './available-queries.ts';
import { MilestoneRecord, presentMilestone } from './milestone-records.ts';
import { promoteMilestone } from './promotion-actions.ts';
import { milestonesById, selectMilestones } from './queries.ts';
import { CreateInput, ListInput, OneInput, UpdateInput } from './schema.ts';

type Home = {
  word: 'project' | 'group';
  path: '/projects/:id/milestones' | '/groups/:id/milestones';
  read: Access<ResourceParent, Caller>;
  manage: Access<ResourceParent, Actor>;
};

const project: Home = {
  word: 'project',
  path: '/projects/:id/milestones',
  read: onProject('read_planning'),
  manage: onProject('manage_milestones'),
};

const group: Home = {
  word: 'group',
  path: '/groups/:id/milestones',
  read: onGroup('read_planning'),
  manage: onGroup('manage_milestones'),
};

/** The context for the addresses of a parent's own milestones. */
const around = (services: { baseUrl(): string }, parent: ResourceParent) => ({
  baseUrl: services.baseUrl(),
  fullPath: parentPath(parent),
});

const readEndpoints = ({ word, path, read }: Home) => ({
  list: listing({
    method: 'GET',
    path,
    summary: `Milestones of a ${word}, the next due first.`,
    access: read,
    page: 'offset',
    input: ListInput,
    item: MilestoneRecord,
    handle: async ({ db, services, actor, subject, input, page }) => {
      const milestones = await selectMilestones(db, actor, subject, input, page);
      const placed = await milestonesById(
        db,
        milestones.items.map(({ id }) => id),
      );
      const baseUrl = services.baseUrl();
      const items = milestones.items.map((row) =>
        presentMilestone(row, { baseUrl, fullPath: placed.get(row.id)?.full_path ?? parentPath(subject) }),
      );
      return { ...milestones, items };
    },
  }),
  one: endpoint({
    method: 'GET',
    path: `${path}/:milestone_id`,
    summary: `One milestone of a ${word}.`,
    access: read,
    input: OneInput,
    reply: MilestoneRecord,
    handle: async ({ db, services, subject, input }) => {
      const milestone = found(await selectMilestone(db, subject, input.milestone_id));
      return presentMilestone(milestone, around(services, subject));
    },
  }),
});

/** Reading, by what the milestones belong to. */
export const milestoneReadsOf = { project: readEndpoints(project), group: readEndpoints(group) };

const writeEndpoints = ({ word, path, manage }: Home): Endpoint[] => [
  endpoint({
    method: 'POST',
    path,
    summary: `Makes a milestone of a ${word}.`,
    access: manage,
    input: CreateInput,
    reply: MilestoneRecord,
    handle: async ({ db, services, actor, subject, input }) =>
      presentMilestone(await createMilestone(db, actor, subject, input), around(services, subject)),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:milestone_id`,
    summary: `Changes a milestone of a ${word}, closes it or opens it again.`,
    access: manage,
    input: UpdateInput,
    reply: MilestoneRecord,
    handle: async ({ db, services, actor, subject, input }) => {
      const { milestone_id, ...changes } = input;
      const milestone = await updateMilestone(db, actor, subject, milestone_id, changes);
      return presentMilestone(milestone, around(services, subject));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:milestone_id`,
    summary: `Deletes a milestone of a ${word}; its issues stay, without one.`,
    access: manage,
    input: OneInput,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await deleteMilestone(db, actor, subject, input.milestone_id, unmodified);
      return null;
    },
  }),
];

const promotionEndpoint: Endpoint = endpoint({
  method: 'POST',
  path: `${project.path}/:milestone_id/promote`,
  summary:
    "Makes a project's milestone its group's, and those of the same title in the group's projects with it.",
  access: onProject('manage_milestones'),
  input: OneInput,
  reply: MilestoneRecord,
  handle: async ({ db, services, actor, subject, input }) => {
    const promoted = await promoteMilestone({ db, services }, actor, subject, input.milestone_id);
    return presentMilestone(promoted.milestone, around(services, promoted.group));
  },
});

export const milestoneEndpoints: Endpoint[] = [
  ...[project, group].flatMap((home) => [
    ...Object.values(milestoneReadsOf[home.word]),
    ...writeEndpoints(home),
  ]),
  promotionEndpoint,
];
