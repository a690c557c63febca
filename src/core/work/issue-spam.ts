/** The spam check of issues (spec: Requests detected as spam). */
import type { AuthorizedProject } from '../access/find.ts';
import { isReadByAnybody } from '../spam/audience.ts';
import { checkSpam } from '../spam/spam-check.ts';
import type { WriteContext } from './write-context.ts';

/** Returns when the check admits the texts. */
export const checkIssueSpam = (
  { services, settings, actor, request }: WriteContext,
  project: AuthorizedProject,
  issue: { write: 'create' | 'update'; title: string; description: string | null; confidential: boolean },
): Promise<void> =>
  checkSpam(services, settings, {
    actor,
    request,
    kind: 'Issue',
    write: issue.write,
    title: issue.title,
    text: issue.description ?? '',
    publiclyVisible: !issue.confidential && isReadByAnybody(project, 'read_issues'),
  });
