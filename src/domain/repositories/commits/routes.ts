/** Commits of a project (facts: Repository, files, commits, branches, tags). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { readDiff } from '../../../platform/git/history/diff.ts';
import {
  countHistory,
  countListed,
  listHistory,
  refsContaining,
} from '../../../platform/git/history/history.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { findLastPipeline } from './last-pipelines.ts';
import { presentCommitDetail, presentListedCommit, projectUrl } from './present.ts';
import { changeOf, readCommit, readRepository, statsOf } from './queries.ts';
import { countedPage, historyFilter, signatureType, windowOf } from './rules.ts';
import {
  BasicRef,
  CommitDetail,
  CommitSequence,
  CommitSignature,
  DiffRecord,
  ListedCommit,
  ListInput,
  ShaInput,
  sha,
} from './schema.ts';

const path = '/projects/:id/repository/commits';
const pathOfOne = `${path}/:sha` as const;

export const commitsEndpoint = listing({
  method: 'GET',
  path,
  summary: 'Commits of a project, newest first.',
  also: [422],
  access: onProject('read_code'),
  page: 'offset',
  input: ListInput,
  item: ListedCommit,
  handle: async ({ services, subject, input, page }) => {
    // A name in an empty repository names nothing, and a list of its commits is no mistake.
    if (subject.row.empty_repo) return countedPage(page, [], 0);
    const { offset, limit } = windowOf(page);
    const listed = await readRepository(services, subject, async (git) => {
      const revision = input.ref_name || subject.row.default_branch || 'HEAD';
      const head = input.all ? undefined : found(await findCommit(git, revision), 'Commit');
      const filter = historyFilter(input);
      const [total, items] = await Promise.all([
        countListed(git, head?.oid, filter, Math.max(page.countLimit, offset + limit)),
        listHistory(git, head?.oid, filter, { offset, limit }),
      ]);
      const commits = countedPage(page, items, total);
      return { commits, stats: input.with_stats ? await statsOf(git, commits.items) : [] };
    });
    if (!listed) return countedPage(page, [], 0);
    const url = projectUrl(services.baseUrl(), subject);
    const stats = new Map(listed.commits.items.map(({ oid }, index) => [oid, listed.stats[index]]));
    return mapPage(listed.commits, (commit) =>
      presentListedCommit(url, commit, { trailers: input.trailers, stats: stats.get(commit.oid) }),
    );
  },
});

export const commitEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'One commit, with its last pipeline.',
  also: [422],
  access: onProject('read_code'),
  input: Type.Object({
    sha,
    stats: Type.Optional(Type.Boolean({ default: true, description: 'With the count of changed lines.' })),
  }),
  reply: CommitDetail,
  handle: async ({ services, subject, input }) => {
    const read = await readCommit(services, subject, input.sha, async (git, commit) => ({
      commit,
      stats: input.stats === false ? undefined : (await statsOf(git, [commit]))[0],
    }));
    const pipeline = await findLastPipeline(services, subject, read.commit.oid);
    return presentCommitDetail(services.baseUrl(), subject, read.commit, { stats: read.stats, pipeline });
  },
});

export const commitDiffEndpoint = listing({
  method: 'GET',
  path: `${pathOfOne}/diff`,
  summary: 'What a commit changes, file by file.',
  also: [422],
  access: onProject('read_code'),
  page: 'offset',
  input: Type.Object({
    sha,
    unidiff: Type.Optional(Type.Boolean({ description: 'With the names before the hunks.' })),
  }),
  item: DiffRecord,
  handle: async ({ services, subject, input, page }) => {
    const { files, total } = await readCommit(services, subject, input.sha, async (git, commit) =>
      readDiff(git, await changeOf(git, commit), { unidiff: input.unidiff, window: windowOf(page) }),
    );
    return countedPage(page, files, total);
  },
});

export const commitEndpoints: Endpoint[] = [
  commitsEndpoint,
  commitEndpoint,
  commitDiffEndpoint,
  listing({
    method: 'GET',
    path: `${pathOfOne}/refs`,
    summary: 'Branches and tags that lead to a commit.',
    also: [422],
    access: onProject('read_code'),
    page: 'offset',
    input: Type.Object({ sha, type: Type.Optional(stringEnum(['branch', 'tag', 'all'])) }),
    item: BasicRef,
    handle: async ({ services, subject, input, page }) => {
      const { type = 'all' } = input;
      const kinds = type === 'all' ? (['branch', 'tag'] as const) : [type];
      const refs = await readCommit(services, subject, input.sha, (git, { oid }) =>
        refsContaining(git, oid, kinds),
      );
      const { offset, limit } = windowOf(page);
      return countedPage(page, refs.slice(offset, offset + limit), refs.length);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/sequence`,
    summary: 'How many commits a commit leads to, itself included.',
    also: [422],
    access: onProject('read_code'),
    input: Type.Object({ sha, first_parent: Type.Optional(Type.Boolean()) }),
    reply: CommitSequence,
    handle: ({ services, subject, input }) =>
      readCommit(services, subject, input.sha, async (git, { oid }) => ({
        count: await countHistory(git, oid, input.first_parent),
      })),
  }),
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/signature`,
    summary: 'Which kind of signature a commit has.',
    also: [422],
    access: onProject('read_code'),
    input: ShaInput,
    reply: CommitSignature,
    handle: ({ services, subject, input }) =>
      readCommit(services, subject, input.sha, async (_git, commit) => ({
        signature_type: found(signatureType(commit), 'Signature'),
        verification_status: 'unverified',
      })),
  }),
];
