/** What may be done with a job in a status (facts for CI: Actions). Pure. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { HOPELESS, type Status } from '../processing/status.ts';

/** Another row has taken the place of one that was retried. */
export const isRetryable = ({
  status,
  retried,
  failure_reason,
}: {
  status: Status;
  retried: boolean;
  failure_reason: string | null;
}): boolean =>
  !retried &&
  (status === 'success' ||
    status === 'canceled' ||
    (status === 'failed' && !HOPELESS.includes(failure_reason ?? '')));

export const isPlayable = (status: Status): boolean => status === 'manual' || status === 'scheduled';

/** Whether those who see the job may download what is for these. */
export const mayDownload = (project: Pick<AuthorizedProject, 'may'>, access: string): boolean =>
  access === 'all' ||
  (access === 'developer' && project.may('read_developer_artifacts')) ||
  (access === 'maintainer' && project.may('read_maintainer_artifacts'));
