/** Members of projects and groups, access requests and invitations, and the end of a membership. */
import type { Capability } from '../../../kernel/capability.ts';
import type { Needs } from '../../../kernel/services.ts';
import { hookSources } from '../../hooks/index.ts';
import { awaitingEndpoints } from './awaiting-routes.ts';
import { expireMembers } from './expiry-actions.ts';
import { memberHooks } from './hook-events.ts';
import { invitationPages } from './invitation-pages.ts';
import { importEndpoint, memberEndpoints } from './member-routes.ts';
import { groups, projects } from './source.ts';
import { reassignInvitations } from './waiting-actions.ts';
import { accessRequestEndpoints, invitationEndpoints } from './waiting-routes.ts';

export const membersCapability = (services: Needs<'database'>): Capability => ({
  name: 'members',
  registrations: [hookSources.add(...memberHooks)],
  endpoints: [
    ...memberEndpoints(projects),
    ...memberEndpoints(groups),
    ...awaitingEndpoints,
    importEndpoint(projects),
    ...accessRequestEndpoints(projects),
    ...accessRequestEndpoints(groups),
    ...invitationEndpoints(projects),
    ...invitationEndpoints(groups),
  ],
  pages: invitationPages,
  tasks: {
    'members.expire': async () => {
      await expireMembers(services.database.background);
    },
  },
  schedules: [{ task: 'members.expire', pattern: '5 * * * *' }],
  // Rows go with their project, group or user, by foreign key.
  tables: ['members', 'awaiting_members', 'access_requests', 'invitations'],
  reassign: reassignInvitations,
});
