/** Pipelines in mails, until the capability that will have them registers this. */
import { type NotificationFact, notificationEvent } from '../../core/notifications/events.ts';

type PipelineFact = {
  project_id: number;
  /** The pipeline's owner. */
  user_id: number;
  pipeline_id: number;
  status: 'success' | 'failed';
  /** The branch's pipeline before it had failed. */
  was_failing: boolean;
};

export const pipelineFact: NotificationFact = {
  name: 'pipeline_finished',
  eventsOf: ({ project_id, user_id, pipeline_id, status, was_failing }: PipelineFact) => [
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
