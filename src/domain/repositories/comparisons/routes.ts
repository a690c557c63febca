/** Comparisons of commits (facts: Repository, files, commits, branches, tags). */
import { onProject } from '../../../kernel/access/access.ts';
import { authorizeProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { Failure } from '../../../platform/failure.ts';
import { projectUrl } from '../commits/present.ts';
import { CommitRecord, presentCommit } from '../commits/records.ts';
import { presentComparison } from './present.ts';
import { areRelated, compareCommits, findMergeBase } from './queries.ts';
import { Compare, CompareInput, MergeBaseInput } from './schema.ts';

export const comparisonEndpoint = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/compare',
  summary: 'What lies between two commits.',
  also: [422],
  access: onProject('read_code'),
  input: CompareInput,
  reply: Compare,
  handle: async ({ db, services, actor, subject, input, request }) => {
    const { from_project_id: other = subject.id } = input;
    const isOwn = other === subject.id;
    const target = isOwn
      ? subject
      : await authorizeProject(services.database.points, actor, 'read_code', other);
    if (!isOwn && !(await areRelated(db, subject.id, other)))
      throw new Failure(
        'bad_request',
        `Target project id:${other} is not a fork of project id:${subject.id}`,
      );
    const compared = await compareCommits(services, { source: subject, target }, input, request.signal);
    return presentComparison(projectUrl(services.baseUrl(), subject), compared);
  },
});

export const compareEndpoints: Endpoint[] = [
  comparisonEndpoint,
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/merge_base',
    summary: 'The commit that others have in common.',
    also: [422],
    access: onProject('read_code'),
    input: MergeBaseInput,
    reply: CommitRecord,
    handle: async ({ services, subject, input }) =>
      presentCommit(
        projectUrl(services.baseUrl(), subject),
        await findMergeBase(services, subject, input.refs),
      ),
  }),
];
