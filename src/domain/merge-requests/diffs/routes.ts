/** What a merge request changes: by the page, at once, and as git writes it (facts-merge-requests: Diffs). */
import { Readable } from 'node:stream';
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { bytesOf, type Endpoint, endpoint, listing, Reply } from '../../../kernel/api/endpoint.ts';
import { streamDiff } from '../../../platform/git/history/raw-diff.ts';
import {
  countedPage,
  DiffRecord,
  projectRepository,
  streamLeased,
  windowOf,
} from '../../repositories/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { MergeRequestRecord } from '../records/merge-request-records.ts';
import { presentOne } from '../records/present-one.ts';
import { arrivingVersionDiff, endsOf, readVersionDiff } from './read-versions.ts';
import { unidiff } from './schema.ts';
import { selectLatestVersion } from './version-queries.ts';

const pathOfOne = '/projects/:id/merge_requests/:merge_request_iid';

const DiffsInput = Type.Object({ ...OneMergeRequest.properties, unidiff });

const MergeRequestChanges = Type.Object({
  ...MergeRequestRecord.properties,
  changes: Type.Array(DiffRecord),
  overflow: Type.Boolean({
    description: 'Whether files or patches are left out, because there is too much.',
  }),
});

const diffsEndpoint = listing({
  method: 'GET',
  path: `${pathOfOne}/diffs`,
  summary: 'What a merge request changes, file by file.',
  also: [422],
  access: onProject('read_merge_requests'),
  page: 'offset',
  input: DiffsInput,
  item: DiffRecord,
  handle: async ({ db, services, subject, input, page }) => {
    const row = await findMergeRequest(db, subject, input.merge_request_iid);
    const version = await selectLatestVersion(db, row);
    const options = { unidiff: input.unidiff, window: windowOf(page) };
    const { files, total } = await readVersionDiff(services, subject, version, options);
    return countedPage(page, files, total);
  },
});

export const diffEndpoints: Endpoint[] = [
  diffsEndpoint,
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/changes`,
    summary: 'A merge request with all that it changes.',
    deprecated: { use: `GET ${pathOfOne}/diffs` },
    also: [422],
    access: onProject('read_merge_requests'),
    input: Type.Object({
      ...DiffsInput.properties,
      access_raw_diffs: Type.Optional(
        Type.Boolean({ description: 'Changes nothing: every diff is read from git.' }),
      ),
    }),
    reply: MergeRequestChanges,
    handle: async (context) => {
      const { db, services, subject, input, request } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const version = await selectLatestVersion(db, row);
      const options = { unidiff: input.unidiff, signal: request.signal };
      const { files, overflow } = arrivingVersionDiff(services, subject, version, options);
      return { ...(await presentOne(context, subject, row)), changes: files, overflow };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/raw_diffs`,
    summary: 'All that a merge request changes, as git writes it.',
    also: [422],
    access: onProject('read_merge_requests'),
    input: OneMergeRequest,
    reply: bytesOf('text/plain'),
    handle: async ({ db, services, subject, input, request }) => {
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const ends = endsOf(await selectLatestVersion(db, row));
      const stream =
        ends && request.method !== 'HEAD'
          ? await streamLeased(services, projectRepository(subject.id), (git) => streamDiff(git, ends))
          : Readable.from([]);
      return new Reply(200, stream, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
    },
  }),
];
