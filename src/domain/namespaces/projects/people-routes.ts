/**
 * Users and groups around a project: its users and starrers, the groups that it belongs to or could move to.
 */
import { sql } from 'kysely';
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, listing } from '../../../kernel/api/endpoint.ts';
import {
  groupAttributeConditions,
  selectCustomAttributes,
} from '../../../kernel/namespaces/custom-attribute-queries.ts';
import {
  Group,
  PublicGroupDetails,
  presentGroup,
  presentPublicGroup,
} from '../../../kernel/namespaces/group-records.ts';
import { assignableLevels, MAINTAINER } from '../../../kernel/policy/roles.ts';
import { presentUserBasic, UserBasic } from '../../../kernel/users/records.ts';
import { commaList, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import {
  isAbove,
  isElsewhere,
  isInvited,
  isInvitedAbove,
  selectGroupsAround,
  selectProjectUsers,
  selectStarrers,
} from './people-queries.ts';

const search = Type.Optional(Type.String({ maxLength: 255, description: 'Part of the name or path.' }));

export const peopleEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/projects/:id/users',
    summary: 'Users who are members of a project, inherited ones too, and the owner of a personal one.',
    access: onProject('read_project_members'),
    input: Type.Object({ search, skip_users: Type.Optional(commaList(Type.Integer(), { maxItems: 1_000 })) }),
    page: 'offset',
    item: UserBasic,
    handle: async ({ db, services, settings, subject, input, page }) => {
      const around = { baseUrl: services.baseUrl(), settings };
      const users = await selectProjectUsers(db, subject, input, page);
      return mapPage(users, (user) => presentUserBasic(around, user));
    },
  }),
  listing({
    method: 'GET',
    path: '/projects/:id/starrers',
    summary: 'Users who starred a project.',
    access: onProject('read_project'),
    input: Type.Object({ search }),
    page: 'offset',
    item: Type.Object({ starred_since: Type.String(), user: UserBasic }),
    handle: async ({ db, services, settings, subject, input, page }) => {
      const around = { baseUrl: services.baseUrl(), settings };
      const starrers = await selectStarrers(db, subject, input.search, page);
      return mapPage(starrers, (row) => ({
        starred_since: row.starred_at.toISOString(),
        user: presentUserBasic(around, row),
      }));
    },
  }),
  listing({
    method: 'GET',
    path: '/projects/:id/groups',
    summary: 'Groups above a project, and with `with_shared` those it is shared with.',
    access: onProject('read_project'),
    input: Type.Object({
      search,
      skip_groups: Type.Optional(commaList(Type.Integer(), { maxItems: 1_000 })),
      with_shared: Type.Optional(Type.Boolean({ default: false })),
      shared_visible_only: Type.Optional(Type.Boolean({ default: false })),
      shared_min_access_level: Type.Optional(
        Type.Unsafe<number>({ type: 'integer', enum: [...assignableLevels] }),
      ),
    }),
    page: 'offset',
    item: PublicGroupDetails,
    handle: async ({ db, services, settings, actor, subject, input, page }) => {
      const view = { baseUrl: services.baseUrl(), settings };
      const shown = await selectGroupsAround(db, actor, page, {
        where: input.with_shared
          ? sql`(${isAbove(subject)} or ${isInvited(subject, input.shared_min_access_level)})`
          : isAbove(subject),
        search: input.search,
        skip: input.skip_groups,
        leastLevel: 0,
      });
      return mapPage(shown, (row) => presentPublicGroup(view, row));
    },
  }),
  ...(['share_locations', 'transfer_locations'] as const).map((name) =>
    listing({
      method: 'GET',
      path: `/projects/:id/${name}`,
      summary:
        name === 'share_locations'
          ? 'Groups that a project can be shared with.'
          : 'Groups that a project can go to.',
      access: onProject(name === 'share_locations' ? 'share_project' : 'transfer_project'),
      input: Type.Object({ search }),
      page: 'offset',
      item: PublicGroupDetails,
      handle: async ({ db, services, settings, actor, subject, input, page }) => {
        const view = { baseUrl: services.baseUrl(), settings };
        const shown = await selectGroupsAround(db, actor, page, {
          where: isElsewhere(subject),
          search: input.search,
          leastLevel: name === 'share_locations' ? 0 : MAINTAINER,
        });
        return mapPage(shown, (row) => presentPublicGroup(view, row));
      },
    }),
  ),
  listing({
    method: 'GET',
    path: '/projects/:id/invited_groups',
    summary: 'Groups that a project, or a group above it, is shared with.',
    access: onProject('read_project'),
    input: Type.Object({
      search,
      relation: Type.Optional(commaList(stringEnum(['direct', 'inherited']))),
      min_access_level: Type.Optional(Type.Unsafe<number>({ type: 'integer', enum: [...assignableLevels] })),
      with_custom_attributes: Type.Optional(
        Type.Boolean({ description: 'With custom attributes, for administrators.' }),
      ),
      custom_attributes: Type.Optional(
        Type.Record(Type.String(), Type.String(), { description: 'With these values, for administrators.' }),
      ),
    }),
    page: 'offset',
    limit: {
      name: 'project_invited_groups_api',
      setting: 'project_invited_groups_api_limit',
      periodSeconds: 60,
    },
    item: Group,
    handle: async ({ db, services, settings, actor, subject, input, page }) => {
      const view = {
        baseUrl: services.baseUrl(),
        settings,
        tier: services.config.tier,
        admin: actor?.admin ?? false,
      };
      const relations = input.relation?.length ? input.relation : ['direct', 'inherited'];
      const invited = [
        ...(relations.includes('direct') ? [isInvited(subject)] : []),
        ...(relations.includes('inherited') ? [isInvitedAbove(subject)] : []),
      ];
      const shown = await selectGroupsAround(db, actor, page, {
        where: sql.join(
          [
            sql`(${sql.join(invited, sql` or `)})`,
            ...groupAttributeConditions(actor, input.custom_attributes),
          ],
          sql` and `,
        ),
        search: input.search,
        leastLevel: input.min_access_level ?? 0,
      });
      const ids = shown.items.map(({ id }) => id);
      const attributes =
        view.admin && input.with_custom_attributes
          ? await selectCustomAttributes(db, 'namespace_id', ids)
          : undefined;
      return mapPage(shown, (row) =>
        presentGroup(view, row, attributes && { customAttributes: attributes.get(row.id) ?? [] }),
      );
    },
  }),
];
