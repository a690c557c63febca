/** Endpoints of custom roles: the instance's for administrators, and where the offering is hosted those of top-level groups. */
import { type Access, onGroup, onInstance } from '../../../kernel/access/access.ts';
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { badRequest } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { createMemberRole, deleteMemberRole, type RoleHome } from './actions.ts';
import { presentMemberRole } from './present.ts';
import { selectMemberRoles } from './queries.ts';
import { MemberRole, NewMemberRole, OneMemberRole } from './schema.ts';

type Place<S> = {
  path: '/member_roles' | '/groups/:id/member_roles';
  access: Access<S, Actor>;
  home(subject: S): RoleHome;
};

const endpointsOf = <S>({ path, access, home }: Place<S>): Endpoint[] => {
  const whose = path === '/member_roles' ? 'the instance' : 'a top-level group';
  const common = { access, tier: 'ultimate' } as const;
  return [
    listing({
      method: 'GET',
      path,
      summary: `Custom roles of ${whose}, the oldest first.`,
      ...common,
      page: 'offset',
      item: MemberRole,
      handle: async ({ db, subject, page }) =>
        mapPage(await selectMemberRoles(db, home(subject).groupId, page), presentMemberRole),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Makes a custom role of ${whose}: a base role, and abilities that it adds.`,
      ...common,
      input: NewMemberRole,
      reply: MemberRole,
      handle: async ({ db, actor, subject, input }) =>
        presentMemberRole(await createMemberRole(db, actor, home(subject), input)),
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:member_role_id`,
      summary: `Removes a custom role of ${whose} that no member has.`,
      ...common,
      input: OneMemberRole,
      reply: noContent,
      handle: async ({ db, actor, subject, input, unmodified }) => {
        await deleteMemberRole(db, actor, home(subject), input.member_role_id, unmodified);
        return null;
      },
    }),
  ];
};

const groupHome = ({ id, row }: AuthorizedGroup): RoleHome => {
  if (row.parent_id !== null) throw badRequest('Custom roles are of top-level groups');
  return { groupId: id, entity: { type: 'Group', id, path: row.full_path } };
};

export const memberRoleEndpoints = ({ config }: Needs<'config'>): Endpoint[] =>
  config.offering === 'hosted'
    ? endpointsOf({
        path: '/groups/:id/member_roles',
        access: onGroup('manage_member_roles'),
        home: groupHome,
      })
    : endpointsOf({
        path: '/member_roles',
        access: onInstance,
        home: () => ({ groupId: null, entity: { type: 'InstanceScope', id: 1, path: 'instance' } }),
      });
