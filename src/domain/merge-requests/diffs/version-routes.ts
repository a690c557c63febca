/** Versions of a merge request: what its source was each time it was pushed (facts-merge-requests: Diff versions). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { presentCommit, projectUrl } from '../../repositories/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { arrivingVersionCommits, arrivingVersionDiff } from './read-versions.ts';
import { FullVersionRecord, presentVersion, unidiff, VersionRecord } from './schema.ts';
import { selectVersion, selectVersionPage } from './version-queries.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid/versions';

export const versionEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Versions of a merge request, the latest first.',
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: OneMergeRequest,
    item: VersionRecord,
    handle: async ({ db, subject, input, page }) => {
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      return mapPage(await selectVersionPage(db, row, page), presentVersion);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:version_id`,
    summary: 'One version of a merge request, with its commits and all that it changes.',
    also: [422],
    access: onProject('read_merge_requests'),
    input: Type.Object({ ...OneMergeRequest.properties, version_id: integerId(), unidiff }),
    reply: FullVersionRecord,
    handle: async ({ db, services, subject, input, request }) => {
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const version = found(await selectVersion(db, row, input.version_id));
      const options = { unidiff: input.unidiff, signal: request.signal };
      const diff = arrivingVersionDiff(services, subject, version, options);
      const url = projectUrl(services.baseUrl(), subject);
      return {
        ...presentVersion(version),
        commits: await arrivingVersionCommits(services, subject, version, (commit) =>
          presentCommit(url, commit),
        ),
        diffs: diff.files,
      };
    },
  }),
];
