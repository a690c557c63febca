/** Merge requests: opened, reviewed and merged, from branches of a project and of its forks. */
export { mergeRequestsCapability } from './capability.ts';
export { mergeRequestSearch } from './registrations/search-scope.ts';
