/** Settings of approvals, which each project and group has. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  requests: () => ({
    'POST /projects/:id/approvals': { with: { approvals_before_merge: 1 } },
    'PUT /projects/:id/merge_request_approval_setting': { with: { allow_author_approval: true } },
    'PUT /groups/:id/merge_request_approval_setting': { with: { allow_author_approval: false } },
  }),
};
