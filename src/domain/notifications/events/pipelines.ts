/** Pipelines in mails, until the capability that will have them registers this. */

import { createCatalog } from '../../../kernel/mail/texts.ts';
import { shortSha } from '../../../platform/git/commit-texts.ts';
import { type NotificationFact, notificationEvent } from './events.ts';
import type { MailContents } from './mail-contents.ts';
import german from './pipelines.de.json' with { type: 'json' };
import english from './pipelines.en.json' with { type: 'json' };

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

type PipelineEventName = 'failed_pipeline' | 'fixed_pipeline' | 'success_pipeline';

type MailedPipeline = {
  id: number;
  url: string;
  ref: string;
  commit: { sha: string; title: string; url: string };
  /** The first stage first. */
  failedJobs: readonly { name: string; stage: string; url: string }[];
};

const texts = createCatalog({ en: english, de: german });

/** The contents of a mail about the pipeline. Pure. */
export function pipelineMail(
  event: PipelineEventName,
  { id, url, ref, commit, failedJobs }: MailedPipeline,
): MailContents {
  const sha = shortSha(commit.sha);
  const items = failedJobs.map((job) => ({ text: `${job.stage}: ${job.name}`, url: job.url }));
  return {
    target: {
      kind: 'pipeline',
      key: id,
      url,
      title: `Pipeline #${id}`,
      headers: { 'Pipeline-Id': String(id), 'Pipeline-Ref': ref },
      texts,
    },
    topic: ({ language }) => `${texts(language).say(`topics.${event}`, { ref })} (${sha})`,
    rows: ({ language }) => [
      { label: texts(language).say('branch'), value: ref },
      { label: texts(language).say('commit'), value: `${sha} ${commit.title}`, url: commit.url },
    ],
    ...(items.length > 0 && {
      list: ({ language }) => ({ label: texts(language).say('failedJobs'), items, rest: undefined }),
    }),
  };
}
