/** Reading groups: the lists, and one with its picture. */
import { sql } from 'kysely';
import Type from 'typebox';
import { anyone, onGroup } from '../../../kernel/access/access.ts';
import { type GroupQuery, listGroups } from '../../../kernel/access/group-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { AvatarPicture, replyWithAvatar } from '../../../kernel/api/avatar-response.ts';
import {
  type CallLimit,
  type Context,
  type Endpoint,
  endpoint,
  listing,
} from '../../../kernel/api/endpoint.ts';
import { Group, PublicGroupDetails, presentPublicGroup } from '../../../kernel/namespaces/group-records.ts';
import { commaList, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import type { KeysetRule } from '../../../platform/pagination/pagination.ts';
import { groupQuery, linked, transferTargetQuery, visibleGroupQuery } from './filter-queries.ts';
import { groupView, presentGroupDetail, presentGroups } from './present.ts';
import { customAttributeFields, GroupDetail, GroupFilters, InvitedFilters, SharedFilters } from './schema.ts';

/** Keyset over groups: by name, for anonymous callers (spec: Pagination, Supported keyset resources). */
const byName: KeysetRule = {
  type: 'Group',
  orderBy: { name: 'text' },
  sort: ['asc'],
  anonymous: true,
  signedIn: false,
  default: { orderBy: 'name', sort: 'asc' },
  link: 'cursor',
};

const perMinute = (name: string, setting: CallLimit['setting']): CallLimit => ({
  name,
  setting,
  periodSeconds: 60,
});

type Listing = Context<{ statistics?: boolean; with_custom_attributes?: boolean }, unknown, Caller>;

/** The page of a list of groups, as records. */
async function showGroups({ db, services, settings, actor, input, page }: Listing, query: GroupQuery) {
  const listed = await listGroups(db, query, page);
  const options = { statistics: input.statistics, customAttributes: input.with_custom_attributes };
  const view = groupView(services, settings, actor);
  return { ...listed, items: await presentGroups(db, view, listed.items, options) };
}

const relations = ['direct', 'inherited'] as const;

export const groupEndpoint = endpoint({
  method: 'GET',
  path: '/groups/:id',
  summary: 'One group.',
  access: onGroup('read_group'),
  input: Type.Object({
    ...customAttributeFields,
    with_projects: Type.Optional(
      Type.Boolean({ description: 'With its projects, a hundred at most; true when absent.' }),
    ),
  }),
  limit: perMinute('group_api', 'group_api_limit'),
  reply: GroupDetail,
  handle: ({ db, services, settings, actor, subject, input }) =>
    presentGroupDetail(db, groupView(services, settings, actor), actor, subject, {
      customAttributes: input.with_custom_attributes,
      projects: input.with_projects ?? true,
    }),
});

export const subgroupsEndpoint = listing({
  method: 'GET',
  path: '/groups/:id/subgroups',
  summary: 'Groups directly inside the group.',
  access: onGroup('read_group'),
  input: GroupFilters,
  page: 'offset',
  item: Group,
  handle: (context) => {
    const within = sql`n.parent_id = ${context.subject.id}`;
    return showGroups(context, groupQuery(context.input, context.actor, within));
  },
});

export const readEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/groups',
    summary: 'Groups of the caller, or all that the caller sees.',
    access: anyone,
    input: GroupFilters,
    page: byName,
    limit: perMinute('groups_api', 'groups_api_limit'),
    item: Group,
    handle: (context) => showGroups(context, groupQuery(context.input, context.actor)),
  }),
  groupEndpoint,
  subgroupsEndpoint,
  listing({
    method: 'GET',
    path: '/groups/:id/descendant_groups',
    summary: 'Groups inside the group, at any depth.',
    access: onGroup('read_group'),
    input: GroupFilters,
    page: 'offset',
    item: Group,
    handle: (context) => {
      const { id } = context.subject;
      const within = sql`n.ancestor_ids @> array[${id}]::bigint[] and n.id <> ${id}`;
      return showGroups(context, groupQuery(context.input, context.actor, within));
    },
  }),
  listing({
    method: 'GET',
    path: '/groups/:id/groups/shared',
    summary: 'Groups that the group was invited to.',
    access: onGroup('read_group'),
    input: SharedFilters,
    page: 'offset',
    limit: perMinute('group_shared_groups_api', 'group_shared_groups_api_limit'),
    item: Group,
    handle: (context) => {
      const within = linked('shared_group_id', [context.subject.id]);
      return showGroups(context, visibleGroupQuery(context.input, context.actor, within));
    },
  }),
  listing({
    method: 'GET',
    path: '/groups/:id/invited_groups',
    summary: 'Groups invited to the group or to those above it.',
    access: onGroup('read_group'),
    input: Type.Object({
      ...InvitedFilters.properties,
      relation: Type.Optional(commaList(stringEnum(relations), { description: 'Which invitations count.' })),
    }),
    page: 'offset',
    limit: perMinute('group_invited_groups_api', 'group_invited_groups_api_limit'),
    item: Group,
    handle: (context) => {
      const { row } = context.subject;
      const wanted = context.input.relation?.length ? context.input.relation : relations;
      const from = row.ancestor_ids.filter((id) => wanted.includes(id === row.id ? 'direct' : 'inherited'));
      const within = linked('shared_with_group_id', from);
      return showGroups(context, visibleGroupQuery(context.input, context.actor, within));
    },
  }),
  listing({
    method: 'GET',
    path: '/groups/:id/transfer_locations',
    summary: 'Groups that the caller could move the group into.',
    access: onGroup('transfer_group'),
    input: Type.Object({ search: InvitedFilters.properties.search }),
    page: 'offset',
    item: PublicGroupDetails,
    handle: async ({ db, services, settings, actor, subject, input, page }) => {
      const query = transferTargetQuery(subject.row, input, actor);
      const view = groupView(services, settings, actor);
      return mapPage(await listGroups(db, query, page), (row) => presentPublicGroup(view, row));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/groups/:id/avatar',
    summary: 'The picture of the group.',
    access: onGroup('read_group'),
    reply: AvatarPicture,
    handle: ({ services, subject }) => replyWithAvatar(services, subject.row.avatar),
  }),
];
