/** Merge requests of projects: their lists, records and changes. */
import type { Capability } from '../../kernel/capability.ts';
import { noteables } from '../conversation/index.ts';
import { WRITE_INTERRUPTED } from '../repositories/index.ts';
import { FOLLOW_PUSH, followPush, JUDGE_BRANCH, judgeBranch } from './following/follow-pushes.ts';
import { type SettleServices, settleMerges } from './following/settle.ts';
import { mergeRequestListEndpoints } from './lists/routes.ts';
import { mergeEndpoints } from './merging/routes.ts';
import { mergeRequestOpeningEndpoints } from './opening/routes.ts';
import { mergeRequestConversation, mergeRequestDefinition } from './registrations/noteable.ts';

const SETTLE = 'merge_requests.settle';

export const mergeRequestsCapability = (services: SettleServices): Capability => ({
  name: 'merge-requests',
  registrations: [noteables.add(mergeRequestDefinition)],
  endpoints: [
    ...mergeRequestConversation.all,
    ...mergeRequestListEndpoints,
    ...mergeRequestOpeningEndpoints,
    ...mergeEndpoints,
  ],
  tasks: {
    [FOLLOW_PUSH]: followPush(services),
    [JUDGE_BRANCH]: judgeBranch(services),
    [SETTLE]: () => settleMerges(services),
  },
  listeners: [
    { fact: 'repository_pushed', task: FOLLOW_PUSH },
    { fact: WRITE_INTERRUPTED, task: SETTLE },
  ],
  schedules: [{ task: SETTLE, pattern: '* * * * *' }],
  tables: [
    'merge_requests',
    'merge_request_assignees',
    'merge_request_reviewers',
    'merge_request_versions',
    'merge_request_commits',
    'merge_request_closing_issues',
  ],
});
