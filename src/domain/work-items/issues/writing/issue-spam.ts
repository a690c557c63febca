/** The spam check of issues (spec: Requests detected as spam). */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import type { WriteContext } from '../../../conversation/index.ts';
import { checkSpam, isReadByAnybody } from '../../../spam/index.ts';

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
