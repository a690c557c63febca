/** The pipelines of a merge request (facts-merge-requests: 1). */
import Type from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, listing, Reply } from '../../../kernel/api/endpoint.ts';
import { Failure } from '../../../platform/failure.ts';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import { addJobs } from '../../../platform/jobs/jobs.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { Pipeline, presentPipelineBasic, showPipeline } from '../../ci/index.ts';
import { PipelineBasic } from '../../repositories/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { findMergeRequest } from '../records/find-queries.ts';
import { readableProjects } from '../records/readable-projects.ts';
import { MAKE_PIPELINE, makeRequestedPipeline } from './make-pipeline.ts';
import { selectPipelinesOf } from './queries.ts';

const path = '/projects/:id/merge_requests/:merge_request_iid/pipelines';

export const mergeRequestPipelineEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Pipelines of a merge request, those made for it first, each the newest first.',
    access: onProject('read_merge_requests'),
    page: 'offset',
    input: OneMergeRequest,
    item: PipelineBasic,
    handle: async (context) => {
      const { db, services, subject, input, page } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      const projects = await readableProjects(context, subject, row);
      return mapPage(await selectPipelinesOf(db, row, [...projects.keys()], page), (pipeline) =>
        presentPipelineBasic(services.baseUrl(), projects.get(pipeline.project_id) ?? subject, pipeline),
      );
    },
  }),
  endpoint({
    method: 'POST',
    path,
    status: 200,
    summary:
      'Makes a pipeline of a merge request; with `async`, after the answer. 405 where it has none to run.',
    access: onProject('create_merge_requests'),
    also: [202, 405],
    input: Type.Object({ ...OneMergeRequest.properties, async: Type.Optional(Type.Boolean()) }),
    reply: nullable(Pipeline),
    handle: async (context) => {
      const { db, services, settings, subject, actor, input } = context;
      const row = await findMergeRequest(db, subject, input.merge_request_iid);
      if (input.async) {
        const payload = { merge_request_id: row.id, user_id: actor.id, admin_mode: actor.adminMode };
        await addJobs(db, [{ task: MAKE_PIPELINE, payload, key: `pipeline ${row.id} ${actor.id}` }]);
        services.wake();
        return new Reply(202, null);
      }
      const made = await makeRequestedPipeline({ services, actor }, row);
      if (!made) throw new Failure('method_not_allowed', '405 Method Not Allowed');
      services.wake();
      return showPipeline({ db, services, settings, subject: made.home }, made.id);
    },
  }),
];
