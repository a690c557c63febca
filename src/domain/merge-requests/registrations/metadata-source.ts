/** Merge requests as what labels and a milestone are copied from. */
import { notFound } from '../../../platform/failure.ts';
import type { MetadataSource } from '../../work-items/index.ts';
import { findMergeRequest } from '../records/find-queries.ts';

export const mergeRequestMetadata: MetadataSource = {
  sign: '!',
  kind: 'merge_request',
  async find({ db }, project, iid) {
    if (!project.may('read_merge_requests')) throw notFound();
    return findMergeRequest(db, project, iid);
  },
};
