/**
 * Users and groups around a project: its users and starrers, the groups that it belongs to or could move to.
 */
import { type RawBuilder, sql } from 'kysely';
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { listGroups } from '../../../kernel/access/group-list-queries.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Endpoint, listing } from '../../../kernel/api/endpoint.ts';
import {
  Group,
  PublicGroupDetails,
  presentGroup,
  presentPublicGroup,
} from '../../../kernel/namespaces/group-records.ts';
import { assignableLevels, MAINTAINER } from '../../../kernel/policy/roles.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../../kernel/users/records.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { containing } from '../../../platform/db/search.ts';
import { commaList, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';

const search = Type.Optional(Type.String({ maxLength: 255, description: 'Part of the name or path.' }));
const today = (): string => now().toISOString().slice(0, 10);

type Around = {
  /** Over `namespaces n`. */
  where: RawBuilder<unknown>;
  search: string | undefined;
  skip?: readonly number[] | undefined;
  /** The caller's least role; 0 for all that they see. */
  leastLevel: number;
};

/** Groups that the caller sees and that are related to a project, by name. */
function groupsAround(db: Db, caller: Caller, page: PageRequest, around: Around) {
  const pattern = containing(around.search ?? '');
  const where = sql`${around.where} and (n.name ilike ${pattern} or n.full_path ilike ${pattern})
    and not n.id = any(${[...(around.skip ?? [])]}::bigint[])`;
  const scope = { all: true, leastLevel: caller?.admin ? 0 : around.leastLevel };
  return listGroups(db, { caller, scope, where, order: { by: 'name', sort: 'asc' } }, page);
}

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
      let query = db
        .selectFrom('users')
        .select(userBasicColumns)
        .where('users.state', '=', 'active')
        .where(
          sql<boolean>`(users.id = ${subject.row.owner?.id ?? null} or exists (
            select from members m where m.user_id = users.id
            and (m.project_id = ${subject.id} or m.namespace_id = any(${subject.row.ancestor_ids}::bigint[]))
            and (m.expires_at is null or m.expires_at > ${today()}::date)))`,
        );
      if (input.search) {
        const pattern = containing(input.search);
        query = query.where((eb) =>
          eb.or([eb('users.name', 'ilike', pattern), eb('users.username', 'ilike', pattern)]),
        );
      }
      if (input.skip_users) {
        query = query.where(sql<boolean>`users.id <> all(${input.skip_users}::bigint[])`);
      }
      const users = await selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'users.id' });
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
      let query = db
        .selectFrom('users')
        .innerJoin('stars', 'stars.user_id', 'users.id')
        .select([...userBasicColumns, 'stars.starred_at'])
        .where('stars.project_id', '=', subject.id)
        .where('users.private_profile', '=', false);
      if (input.search) {
        const pattern = containing(input.search);
        query = query.where((eb) =>
          eb.or([eb('users.name', 'ilike', pattern), eb('users.username', 'ilike', pattern)]),
        );
      }
      const starrers = await selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'users.id' });
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
      const shown = await groupsAround(db, actor, page, {
        where: sql`(n.id = any(${subject.row.ancestor_ids}::bigint[])
          or (${input.with_shared ?? false} and exists (select from project_group_links l
            where l.project_id = ${subject.id} and l.group_id = n.id
            and l.group_access >= ${input.shared_min_access_level ?? 0})))`,
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
        const shown = await groupsAround(db, actor, page, {
          where: sql`n.id <> ${subject.row.namespace_id}`,
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
      const shown = await groupsAround(db, actor, page, {
        where: sql`(
          (${relations.includes('direct')} and exists (select from project_group_links l
            where l.project_id = ${subject.id} and l.group_id = n.id))
          or (${relations.includes('inherited')} and exists (select from group_group_links l
            where l.shared_group_id = any(${subject.row.ancestor_ids}::bigint[]) and l.shared_with_group_id = n.id)))`,
        search: input.search,
        leastLevel: input.min_access_level ?? 0,
      });
      return mapPage(shown, (row) => presentGroup(view, row));
    },
  }),
];
