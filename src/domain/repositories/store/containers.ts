/**
 * Containers of repositories: a project (its own and its wiki's), a snippet, a group (its wiki's). All of one
 * container are in one storage and move at the same time. Paths on disk follow from ids alone, never from a
 * name.
 */
import { join } from 'node:path';
import type { ContainerKind, RepositoryKey } from '../../../kernel/repository-store.ts';
import { Failure } from '../../../platform/failure.ts';
import { digest } from '../../../platform/secret.ts';

/** The tables with each container's storage and read-only mark. */
export const containerTables = {
  project: 'projects',
  snippet: 'snippets',
  group: 'group_wikis',
} as const satisfies Record<ContainerKind, string>;

export const projectRepository = (id: number): RepositoryKey => ({ kind: 'project', id, wiki: false });
export const projectWiki = (id: number): RepositoryKey => ({ kind: 'project', id, wiki: true });
export const snippetRepository = (id: number): RepositoryKey => ({ kind: 'snippet', id, wiki: false });
export const groupWiki = (id: number): RepositoryKey => ({ kind: 'group', id, wiki: true });

const areas = { project: '@hashed', snippet: '@snippets', group: '@groups' } as const;

/** The path of a container's folders inside any storage, without the ending: `@hashed/6b/86/6b86b273…`. */
export function diskPath({ kind, id }: Pick<RepositoryKey, 'kind' | 'id'>): string {
  const hashed = digest(String(id)).toString('hex');
  return join(areas[kind], hashed.slice(0, 2), hashed.slice(2, 4), hashed);
}

/** The path of a repository inside any storage. */
export const repositoryPath = (key: RepositoryKey): string =>
  `${diskPath(key)}${key.wiki ? '.wiki' : ''}.git`;

/** The message for writers while a container moves (facts: Repository storage moves). */
export const READ_ONLY = 'The repository is temporarily read-only. Please try again later.';
export const readOnly = (): Failure => new Failure('forbidden', READ_ONLY);
