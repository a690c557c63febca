/** Merge requests: opened, reviewed and merged, from branches of a project and of its forks. */
export { mergeRequestEvents } from './around/event-routes.ts';
export { mergeRequestsCapability } from './capability.ts';
export { selectFirstBringing } from './lists/around-queries.ts';
export { groupMergeRequestsEndpoint, projectMergeRequestsEndpoint } from './lists/routes.ts';
export { mergeRequestEndpoint } from './opening/routes.ts';
export { mergeRequestConversation } from './registrations/noteable.ts';
export { mergeRequestSearch } from './registrations/search-scope.ts';
