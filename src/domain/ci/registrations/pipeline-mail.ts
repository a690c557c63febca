/** Pipelines in mails. Pure. */
import { createCatalog } from '../../../kernel/mail/texts.ts';
import { shortSha } from '../../../platform/git/commit-texts.ts';
import type { MailContents, NotificationEventName } from '../../notifications/index.ts';
import german from './mail-texts.de.json' with { type: 'json' };
import english from './mail-texts.en.json' with { type: 'json' };

export type PipelineEventName = Extract<
  NotificationEventName,
  'failed_pipeline' | 'fixed_pipeline' | 'success_pipeline'
>;

type MailedPipeline = {
  id: number;
  url: string;
  ref: string;
  commit: { sha: string; title: string; url: string };
  /** The first stage first. */
  failedJobs: readonly { name: string; stage: string; url: string }[];
};

const texts = createCatalog({ en: english, de: german });

/** The contents of a mail about the pipeline. */
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
