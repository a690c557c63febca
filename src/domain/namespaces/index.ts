/** Namespaces: groups, projects, their members and topics. */
export { customAttributesCapability } from './custom-attributes/capability.ts';
export { createGroup, insertGroup } from './groups/actions.ts';
export { groupsCapability } from './groups/capability.ts';
export { groupEndpoint, subgroupsEndpoint } from './groups/read-routes.ts';
export { memberRolesCapability } from './member-roles/capability.ts';
export { membersCapability } from './members/capability.ts';
export { projectsCapability } from './projects/capability.ts';
export { createProject, findTargetNamespace } from './projects/changes/actions.ts';
export { type SettingFollowUp, settingFollowUps } from './projects/changes/setting-follow-ups.ts';
export { groupProjectsEndpoint, userProjectsEndpoint } from './projects/reading/list-routes.ts';
export { projectEndpoint } from './projects/reading/routes.ts';
export { projectSearch } from './projects/search-scope.ts';
export { movableProjects } from './projects/storage-moves.ts';
export { seatsCapability } from './seats/capability.ts';
export { topicsCapability } from './topics/capability.ts';
