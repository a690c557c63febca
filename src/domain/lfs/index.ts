/** Git LFS: large files of projects, whose pointers are in their repositories, and locks of paths. */
import type { Capability } from '../../kernel/capability.ts';
import type { GitAccess, LfsServices } from './protocol/access.ts';
import { lfsRoutes } from './protocol/routes.ts';

export { hasLocks, lockRefusal, selectPathsOfOthers } from './locks/queries.ts';
export { TOO_MUCH_FOR_LOCKS } from './locks/rules.ts';
export { changesLocked, linkMerged } from './merges.ts';
export { copyObjects } from './objects/actions.ts';
export { pointedObject, refuseMissing } from './objects/pointed-objects.ts';
export { hasLargeFiles } from './objects/queries.ts';
export { type ReplacedPointers, replacedPointers } from './objects/replaced-pointers.ts';
export { type LargeObject, POINTER_BYTES } from './pointers/pointer.ts';
export { readPointers } from './pointers/read-pointers.ts';
export type { GitAccess } from './protocol/access.ts';

/** `git` is how repositories are reached over HTTP. */
export const lfsCapability = (services: LfsServices, git: GitAccess): Capability => ({
  name: 'lfs',
  endpoints: [],
  routes: lfsRoutes(services, git),
  // They are deleted with their project, by foreign key; bytes by the next sweep of blobs.
  tables: ['lfs_objects', 'lfs_locks'],
});
