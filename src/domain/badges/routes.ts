/** Badges of projects and of groups: the same endpoints, mounted for both. */
import { type Access, onGroup, onProject } from '../../kernel/access/access.ts';
import type { ResourceParent } from '../../kernel/access/resource-parents.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import { createBadge, deleteBadge, updateBadge } from './actions.ts';
import { presentBadge, presentBadges, presentPreview } from './present.ts';
import { selectBadge, selectBadges } from './queries.ts';
import { requireAddresses } from './rules.ts';
import {
  BadgePreview,
  BadgeRecord,
  CreateInput,
  ListInput,
  OneInput,
  RenderInput,
  UpdateInput,
} from './schema.ts';

const endpointsOf = (
  word: 'project' | 'group',
  read: Access<ResourceParent, Caller>,
  manage: Access<ResourceParent, Actor>,
): Endpoint[] => {
  const path = `/${word}s/:id/badges`;
  return [
    listing({
      method: 'GET',
      path,
      summary: word === 'project' ? 'Badges of a project and of the groups around it.' : 'Badges of a group.',
      access: read,
      page: 'offset',
      input: ListInput,
      item: BadgeRecord,
      handle: async (context) => {
        const { db, subject, input, page } = context;
        const badges = await selectBadges(db, subject, input.name, page);
        return { ...badges, items: await presentBadges(context, badges.items) };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:badge_id`,
      summary: `One badge of a ${word}.`,
      access: read,
      input: OneInput,
      reply: BadgeRecord,
      handle: async (context) => {
        const badge = found(await selectBadge(context.db, context.subject, context.input.badge_id), 'Badge');
        return presentBadge(context, badge);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${path}/render`,
      summary: `A badge as a ${word} would show it; it is not kept.`,
      access: manage,
      input: RenderInput,
      reply: BadgePreview,
      handle: async (context) => {
        const { link_url, image_url } = context.input;
        requireAddresses({ link_url, image_url });
        return presentPreview(context, { link_url, image_url });
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Makes a badge of a ${word}.`,
      access: manage,
      input: CreateInput,
      reply: BadgeRecord,
      handle: async (context) => {
        const badge = await createBadge(context.db, context.actor, context.subject, context.input);
        return presentBadge(context, badge);
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${path}/:badge_id`,
      summary: `Changes a badge of a ${word}.`,
      access: manage,
      input: UpdateInput,
      reply: BadgeRecord,
      handle: async (context) => {
        const { badge_id, ...changes } = context.input;
        const badge = await updateBadge(context.db, context.actor, context.subject, badge_id, changes);
        return presentBadge(context, badge);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:badge_id`,
      summary: `Deletes a badge of a ${word}.`,
      access: manage,
      input: OneInput,
      reply: noContent,
      handle: async ({ db, actor, subject, input, unmodified }) => {
        await deleteBadge(db, actor, subject, input.badge_id, unmodified);
        return null;
      },
    }),
  ];
};

export const badgeEndpoints: Endpoint[] = [
  ...endpointsOf('project', onProject('read_project'), onProject('update_project')),
  ...endpointsOf('group', onGroup('read_group'), onGroup('update_group')),
];
