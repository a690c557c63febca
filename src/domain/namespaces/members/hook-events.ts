/** Members and access requests, as hooks of the instance and of groups are told of them (facts-merge-requests: 10.5, 10.7). */
import { projectFullPath } from '../../../kernel/namespaces/rows.ts';
import { DEVELOPER, levelName, visibilityName } from '../../../kernel/policy/roles.ts';
import type { UserBasic } from '../../../kernel/users/records.ts';
import {
  ALWAYS,
  type HookEvent,
  type HookPlace,
  type HookServices,
  hookEmail,
  hookSource,
  namedEvents,
  namedTime,
  readActor,
  readContext,
  readPlace,
} from '../../hooks/index.ts';

/** Who is a member, or asks to be one. */
type MemberFact = HookPlace & {
  user_id: number;
  /** None of those who ask: they would be developers. */
  access_level?: number;
  expires_at?: string | null;
  created_at: string;
  updated_at: string;
};

/** The names of a fact's event: for a project, for a group, and for the group's own hooks where that is another. */
type Names = { project: string; group: string; inside?: string };

const userPart = (user: UserBasic) => ({
  user_username: user.username,
  user_name: user.name,
  user_email: hookEmail(user),
  user_id: user.id,
});

async function memberEvents(services: HookServices, told: MemberFact, names: Names): Promise<HookEvent[]> {
  const level = levelName(told.access_level ?? DEVELOPER);
  if ('project_id' in told) {
    const context = await readContext(services, told.project_id, told.user_id);
    if (!context?.user) return [];
    const { project, user } = context;
    return namedEvents(names.project, told, {
      project_name: project.name,
      project_path: project.path,
      project_path_with_namespace: projectFullPath(project),
      project_id: project.id,
      ...userPart(user),
      access_level: level,
      project_visibility: visibilityName(project.visibility),
    });
  }
  const [place, user] = await Promise.all([readPlace(services, told), readActor(services, told.user_id)]);
  if (!place || !('group' in place) || !user) return [];
  const { full_path: _, ...group } = place.group;
  const fields = { ...group, ...userPart(user), group_access: level };
  const expires_at = told.expires_at ? namedTime(told.expires_at) : null;
  return namedEvents(names.group, told, fields, {
    flag: 'member_events',
    name: names.inside ?? names.group,
    fields: { ...fields, group_plan: null, expires_at },
  });
}

const names: Readonly<Record<string, Names>> = {
  member_created: { project: 'user_add_to_team', group: 'user_add_to_group' },
  member_updated: { project: 'user_update_for_team', group: 'user_update_for_group' },
  member_destroyed: { project: 'user_remove_from_team', group: 'user_remove_from_group' },
  access_request_created: {
    project: 'user_access_request_to_project',
    group: 'user_access_request_to_group',
  },
  access_request_destroyed: {
    project: 'user_access_request_revoked_for_project',
    group: 'user_access_request_revoked_for_group',
    inside: 'user_access_request_denied_for_group',
  },
};

export const memberHooks = Object.entries(names).map(([fact, each]) =>
  hookSource<MemberFact>({
    fact,
    flags: [ALWAYS, 'member_events'],
    eventsOf: (services, told) => memberEvents(services, told, each),
  }),
);
