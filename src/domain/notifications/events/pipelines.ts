/** Pipelines in mails, until the capability that will have them registers this. */

import { type NotificationFact, notificationEvent } from './events.ts';
import { type MailContents, shortSha } from './mail-contents.ts';
import type { InLanguages, SubjectWords } from './mail-words.ts';

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

type PipelineWords = SubjectWords & {
  topics: Record<PipelineEventName, (ref: string) => string>;
  branch: string;
  commit: string;
  failedJobs: string;
};

const words: InLanguages<PipelineWords> = {
  en: {
    happened: {
      failed_pipeline: () => 'A pipeline of yours failed',
      fixed_pipeline: () => 'A pipeline of yours works again',
      success_pipeline: () => 'A pipeline of yours succeeded',
    },
    open: 'View the pipeline',
    topics: {
      failed_pipeline: (ref) => `Failed pipeline for ${ref}`,
      fixed_pipeline: (ref) => `Fixed pipeline for ${ref}`,
      success_pipeline: (ref) => `Successful pipeline for ${ref}`,
    },
    branch: 'Branch',
    commit: 'Commit',
    failedJobs: 'Failed jobs',
  },
  de: {
    happened: {
      failed_pipeline: () => 'Eine Ihrer Pipelines ist fehlgeschlagen',
      fixed_pipeline: () => 'Eine Ihrer Pipelines läuft wieder durch',
      success_pipeline: () => 'Eine Ihrer Pipelines war erfolgreich',
    },
    open: 'Pipeline ansehen',
    topics: {
      failed_pipeline: (ref) => `Pipeline für ${ref} fehlgeschlagen`,
      fixed_pipeline: (ref) => `Pipeline für ${ref} läuft wieder durch`,
      success_pipeline: (ref) => `Pipeline für ${ref} erfolgreich`,
    },
    branch: 'Branch',
    commit: 'Commit',
    failedJobs: 'Fehlgeschlagene Jobs',
  },
};

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
      words,
    },
    topic: ({ language }) => `${words[language].topics[event](ref)} (${sha})`,
    rows: ({ language }) => [
      { label: words[language].branch, value: ref },
      { label: words[language].commit, value: `${sha} ${commit.title}`, url: commit.url },
    ],
    ...(items.length > 0 && {
      list: ({ language }) => ({ label: words[language].failedJobs, items, rest: undefined }),
    }),
  };
}
