/** Closes issues that a merged merge request or a pushed commit names (facts-merge-requests §2.3). */
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import { projectSettings } from '../../../../kernel/namespaces/project-settings.ts';
import { inTransaction } from '../../../../platform/db/database.ts';
import { Failure } from '../../../../platform/failure.ts';
import type { ActorContext } from '../../../conversation/index.ts';
import type { ClosingSource } from '../../changes/issue-changes.ts';
import { findIssueById } from '../records/find-queries.ts';
import { closeIssue } from './actions.ts';
import { wasClosedBy } from './cause-queries.ts';
import { requireUpdate } from './issue-rights.ts';
import { lockIssue } from './lock-queries.ts';

/** Those that keep the issue open, which are no failures of what closes it. */
const refusals: ReadonlySet<string> = new Set(['forbidden', 'not_found', 'unauthenticated']);

/**
 * Closes the issue in the actor's name, unless it is closed, was closed by the same before, the actor may not update it, or
 * its project does not let texts close issues. `sourceFor` gets the issue's project, for the reference.
 */
export async function closeVia(
  context: ActorContext,
  issueId: number,
  sourceFor: (project: AuthorizedProject) => ClosingSource,
): Promise<void> {
  const { db, services, actor } = context;
  try {
    const { issue, project } = await findIssueById(db, services.database.points, actor, issueId);
    if (!projectSettings(project.row).autoclose_referenced_issues || !project.may('create_issues')) return;
    await requireUpdate(db, project, actor, issue);
    const via = sourceFor(project);
    await inTransaction(db, async (tx) => {
      const locked = await lockIssue(tx, issueId);
      if (locked.state === 'closed' || (await wasClosedBy(tx, issueId, via.cause))) return;
      await closeIssue({ ...context, db: tx }, tx, project, issueId, { via });
    });
  } catch (error) {
    if (!(error instanceof Failure && refusals.has(error.kind))) throw error;
  }
}
