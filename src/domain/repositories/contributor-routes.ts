/** Contributors to a repository, and its languages (facts: Repository, Contributor). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { type Endpoint, endpoint, listing } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { notFound } from '../../platform/failure.ts';
import { languagesOf } from '../../platform/git/files/language-shares.ts';
import { type Contributor, contributorsOf } from '../../platform/git/history/contributors.ts';
import type { GitFolder } from '../../platform/git/objects.ts';
import { findCommit } from '../../platform/git/refs.ts';
import { stringEnum } from '../../platform/http/parameters/schema.ts';
import { offsetPage } from '../../platform/pagination/page.ts';
import { readRepository } from './commits/queries.ts';
import { orderContributors } from './contributor-rules.ts';

const ContributorRecord = Type.Object({
  name: Type.String(),
  email: Type.String(),
  commits: Type.Integer(),
  additions: Type.Integer(),
  deletions: Type.Integer(),
});

/** Lines are not counted: clients have read zeros for years, and counting them takes minutes in a long history. */
const presentContributor = (contributor: Contributor): Static<typeof ContributorRecord> => ({
  ...contributor,
  additions: 0,
  deletions: 0,
});

const Languages = Type.Unsafe<Record<string, number>>({
  type: 'object',
  additionalProperties: { type: 'number' },
});

/** Reads of a revision; `otherwise` for a project without a repository or without commits. */
async function ofRevision<T>(
  services: Needs<'repositories'>,
  project: AuthorizedProject,
  revision: string | undefined,
  otherwise: T,
  find: (git: GitFolder, commit: string) => Promise<T>,
): Promise<T> {
  const read = await readRepository(services, project, async (git) => {
    const commit = await findCommit(git, revision || 'HEAD');
    if (commit) return find(git, commit.oid);
    if (revision) throw notFound('Commit');
    return otherwise;
  });
  return read ?? otherwise;
}

export const contributorEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/projects/:id/repository/contributors',
    summary: 'Who made the commits of a repository.',
    also: [422],
    access: onProject('read_code'),
    page: 'offset',
    input: Type.Object({
      ref: Type.Optional(
        Type.String({ description: 'Branch, tag or commit; the default branch unless given.' }),
      ),
      order_by: Type.Optional(stringEnum(['email', 'name', 'commits'], { default: 'commits' })),
      sort: Type.Optional(stringEnum(['asc', 'desc'], { default: 'asc' })),
    }),
    item: ContributorRecord,
    handle: async ({ services, subject: project, input, page }) => {
      if (page.kind !== 'offset') throw new Error('this list has pages by offset');
      const all = await ofRevision(services, project, input.ref, [], ({ folder }, commit) =>
        contributorsOf(folder, commit),
      );
      const ordered = orderContributors(all, input.order_by ?? 'commits', input.sort ?? 'asc');
      const rows = ordered.slice(page.offset, page.offset + page.perPage + 1).map(presentContributor);
      return offsetPage(page, rows, async () => ordered.length);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/projects/:id/languages',
    summary: 'The languages of a repository, in percent of its bytes.',
    also: [422],
    access: onProject('read_code'),
    reply: Languages,
    handle: async ({ services, subject: project }) =>
      ofRevision(services, project, undefined, {}, languagesOf),
  }),
];
