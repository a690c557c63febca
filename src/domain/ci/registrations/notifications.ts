/** Pipelines that ended, as events of which mails tell: to those who started them. */
import { titleOf } from '../../../platform/git/commit-texts.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import {
  type NotificationFact,
  type NotificationSubject,
  notificationEvent,
} from '../../notifications/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { type MailedPipelineRow, selectMailedPipeline } from './mail-queries.ts';
import { type PipelineEventName, pipelineMail } from './pipeline-mail.ts';

type FinishedFact = {
  project_id: number;
  /** Null where its account is gone. */
  user_id: number | null;
  pipeline_id: number;
  status: 'success' | 'failed';
  /** The pipeline of the ref before it had failed. */
  was_failing: boolean;
};

export const pipelineFact: NotificationFact = {
  name: 'pipeline_finished',
  eventsOf: ({ project_id, user_id, pipeline_id, status, was_failing }: FinishedFact) =>
    user_id === null
      ? []
      : [
          notificationEvent(
            status === 'failed' ? 'failed_pipeline' : was_failing ? 'fixed_pipeline' : 'success_pipeline',
            {
              projectId: project_id,
              subject: { kind: 'pipeline', id: pipeline_id },
              involved: { owner: user_id },
            },
          ),
        ],
};

export const pipelineSubject: NotificationSubject = {
  kind: 'pipeline',
  select: ({ projectId = 0, subject }) => selectMailedPipeline(projectId, subject.id ?? 0),
  async load({ services, context, job, row }) {
    // That of selectMailedPipeline().
    const pipeline = row as MailedPipelineRow | null;
    if (!pipeline) return undefined;
    const { id, ref, sha, failed } = pipeline;
    const home = `${services.baseUrl()}/${context.fullPath}/-`;
    return {
      authorId: undefined,
      assigneeIds: [],
      reviewerIds: [],
      said: null,
      ability: 'read_pipelines',
      async contents() {
        const commit = await services.repositories.read(
          projectRepository(context.id),
          pipeline.repository_storage,
          (git) => findCommit(git, sha),
        );
        // Of pipelineFact.
        return pipelineMail(job.event.name as PipelineEventName, {
          id,
          ref,
          url: `${home}/pipelines/${id}`,
          commit: { sha, title: commit ? titleOf(commit.message) : '', url: `${home}/commit/${sha}` },
          failedJobs:
            job.event.name === 'failed_pipeline'
              ? failed.map((each) => ({ ...each, url: `${home}/jobs/${each.id}` }))
              : [],
        });
      },
    };
  },
};
