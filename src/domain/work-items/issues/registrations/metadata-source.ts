/** Issues as what labels and a milestone are copied from. */
import { notFound } from '../../../../platform/failure.ts';
import type { MetadataSource } from '../../quick-actions/metadata-sources.ts';
import { findIssue } from '../records/find-queries.ts';

export const issueMetadata: MetadataSource = {
  sign: '#',
  kind: 'issue',
  async find({ db, actor }, project, iid) {
    if (!project.may('read_issues')) throw notFound();
    return findIssue(db, project, actor, iid);
  },
};
