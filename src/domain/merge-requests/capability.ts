/** Merge requests of projects: their lists, records and changes. */
import type { Capability } from '../../kernel/capability.ts';
import { noteables } from '../conversation/index.ts';
import { mergeRequestListEndpoints } from './lists/routes.ts';
import { mergeEndpoints } from './merging/routes.ts';
import { mergeRequestOpeningEndpoints } from './opening/routes.ts';
import { mergeRequestConversation, mergeRequestDefinition } from './registrations/noteable.ts';

export const mergeRequestsCapability = (): Capability => ({
  name: 'merge-requests',
  registrations: [noteables.add(mergeRequestDefinition)],
  endpoints: [
    ...mergeRequestConversation.all,
    ...mergeRequestListEndpoints,
    ...mergeRequestOpeningEndpoints,
    ...mergeEndpoints,
  ],
  tables: [
    'merge_requests',
    'merge_request_assignees',
    'merge_request_reviewers',
    'merge_request_versions',
    'merge_request_commits',
    'merge_request_closing_issues',
  ],
});
