/** What has boards: the same endpoints are mounted for both. */
import { type Access, onGroup, onProject } from '../../kernel/access/access.ts';
import type { ResourceParent } from '../../kernel/access/resource-parents.ts';
import type { Actor } from '../../kernel/actor.ts';

type Home = {
  word: 'project' | 'group';
  path: '/projects/:id/boards' | '/groups/:id/boards';
  read: Access<ResourceParent, Actor>;
  manage: Access<ResourceParent, Actor>;
};

const homes: readonly Home[] = [
  {
    word: 'project',
    path: '/projects/:id/boards',
    read: onProject('read_boards'),
    manage: onProject('manage_boards'),
  },
  {
    word: 'group',
    path: '/groups/:id/boards',
    read: onGroup('read_boards'),
    manage: onGroup('manage_boards'),
  },
];

/** The endpoints, for projects and for groups. */
export const forBoth = <T>(endpointsOf: (home: Home) => readonly T[]): T[] => homes.flatMap(endpointsOf);
