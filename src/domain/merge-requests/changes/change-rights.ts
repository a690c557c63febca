/** Who may change a merge request, and what of it (facts: Permissions). */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import { forbidden } from '../../../platform/failure.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import type { ChangeRights } from './requested.ts';

/** Managers set everything; others the texts and how to merge. */
export const changeRights = ({ config }: Needs<'config'>, project: AuthorizedProject): ChangeRights => ({
  metadata: project.may('manage_merge_requests'),
  lock: project.may('update_merge_requests'),
  premium: config.tier !== 'free',
});

/** Fails with 403 unless the actor updates the project's merge requests, or is the author. */
export function requireUpdate(
  project: AuthorizedProject,
  actor: Actor,
  { author_id }: Pick<MergeRequestRow, 'author_id'>,
): void {
  if (!project.may('update_merge_requests') && author_id !== actor.id) throw forbidden();
}
