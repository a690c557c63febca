/** Merge requests of projects: their lists, records and changes. */
import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Capability } from '../../kernel/capability.ts';
import { type CreationServices, openMergeRequests } from '../ci/index.ts';
import { mentionNamed, noteables, todoTargets, userCounts } from '../conversation/index.ts';
import { hookNoteables, hookSamples, hookSources } from '../hooks/index.ts';
import { referenceDefinitions } from '../markdown/index.ts';
import { settingFollowUps } from '../namespaces/index.ts';
import { notificationFacts, notificationSubjects } from '../notifications/index.ts';
import { plannedKinds } from '../planning/index.ts';
import { collaborations, pushFollowers, WRITE_INTERRUPTED } from '../repositories/index.ts';
import { metadataSources } from '../work-items/index.ts';
import { followApprovalsBeforeMerge } from './approval-rules/any-approver-actions.ts';
import { approvalRuleEndpoints } from './approval-rules/routes.ts';
import { settingRuleEndpoints } from './approval-rules/setting-routes.ts';
import { approvalSettingEndpoints } from './approval-settings/routes.ts';
import { CALL_APPROVERS, callApprovers, callingListener } from './approving/call-approvers.ts';
import { ownRuleEndpoints } from './approving/own-rule-routes.ts';
import { approvalEndpoints } from './approving/routes.ts';
import { mergeRequestEventEndpoints } from './around/event-routes.ts';
import { mergeRequestIssueEndpoints } from './around/issue-routes.ts';
import { mergeRequestPeopleEndpoints } from './around/people-routes.ts';
import { mergeRequestSubscriptionEndpoints } from './around/subscription-routes.ts';
import { mergeRequestTimeEndpoints } from './around/time-routes.ts';
import {
  CLOSE_FOR_COMMITS,
  CLOSE_FOR_MERGED,
  type ClosingServices,
  closeForCommits,
  closeForMerged,
} from './closing/close-issues.ts';
import { collaboration } from './collaboration/collaboration.ts';
import { contextCommitEndpoints } from './context-commits/routes.ts';
import { dependencyEndpoints } from './dependencies/routes.ts';
import { mergeRequestCommitsEndpoint } from './diffs/commit-routes.ts';
import { diffEndpoints } from './diffs/routes.ts';
import { versionEndpoints } from './diffs/version-routes.ts';
import { draftNoteEndpoints } from './draft-notes/routes.ts';
import { ADD_FAILED_TODOS, addFailedTodos, isOfFailedBranch } from './following/failed-pipeline-todos.ts';
import { FOLLOW_PUSH, followInterrupted, followPush } from './following/follow-pushes.ts';
import { judgeBranch } from './following/judge-branch.ts';
import { type ReconcileServices, reconcileMerges } from './following/reconcile-merges.ts';
import { type TraceServices, traceNotes } from './following/trace-notes.ts';
import { addUnmergeableTodos } from './following/unmergeable-todos.ts';
import { mergeRequestsAroundEndpoints } from './lists/around-routes.ts';
import { mergeRequestListEndpoints } from './lists/routes.ts';
import { MENTION_BY_COMMITS, mentionByCommits } from './mentions/mention-by-commits.ts';
import { MENTION_NAMED, mentioningMergeRequests, mentionListeners } from './mentions/mention-named.ts';
import { NOTE_PICKED, notePicked } from './mentions/picked-commits.ts';
import { mergeRefEndpoint } from './merge-ref/routes.ts';
import { mergeTrainEndpoints } from './merge-trains/routes.ts';
import { type AfterServices, afterMerge, autoMerge, removesSource } from './merging/after-merge.ts';
import {
  mergeRequested,
  REQUESTED_MERGE,
  REQUESTED_REBASE,
  rebaseRequested,
} from './merging/requested-merges.ts';
import { mergeEndpoints } from './merging/routes.ts';
import { mergeRequestOpeningEndpoints } from './opening/routes.ts';
import { MAKE_PIPELINE, makePipeline, pipelineListeners } from './pipelines/make-pipeline.ts';
import { selectOpenFrom } from './pipelines/queries.ts';
import { mergeRequestPipelineEndpoints } from './pipelines/routes.ts';
import { followPushOptions } from './pushing/follow-push-options.ts';
import { mergeRequestActivityTarget } from './registrations/activity-target.ts';
import { mergeRequestHooks, mergeRequestOfNotes, mergeRequestSample } from './registrations/hook-events.ts';
import { mergeRequestMetadata } from './registrations/metadata-source.ts';
import { mergeRequestConversation, mergeRequestDefinition } from './registrations/noteable.ts';
import { mergeRequestFacts } from './registrations/notification-facts.ts';
import { mergeRequestSubject } from './registrations/notification-subject.ts';
import { plannedMergeRequests } from './registrations/planned.ts';
import { mergeRequestReferences } from './registrations/references.ts';
import { checkTitlePattern } from './registrations/title-pattern.ts';
import {
  mergeRequestCounts,
  mergeRequestTodoEndpoint,
  mergeRequestTodoTarget,
} from './registrations/todo-target.ts';
import { retargetAfterPush, retargetListener } from './retargeting/retarget.ts';
import { statusCheckEndpoints } from './status-checks/routes.ts';
import {
  type StatusCheckServices,
  statusCheckListeners,
  statusCheckTasks,
} from './status-checks/send-requests.ts';
import { suggestionEndpoints } from './suggestions/routes.ts';
import { REMOVE_OLD_REFS, removeOldRefs } from './versions/remove-old-refs.ts';
import { REMOVE_REFS, removeRefs } from './versions/remove-refs.ts';
import {
  ADD_UNMERGEABLE_TODOS,
  FOLLOW_INTERRUPTED,
  JUDGE_BRANCH,
  RETARGET,
} from './writing/following-jobs.ts';
import { reassignMergeRequests } from './writing/reassign-actions.ts';
import { TRACE_NOTES } from './writing/trace-actions.ts';

const RECONCILE = 'merge_requests.reconcile';
const AFTER_MERGE = 'merge_requests.after_merge';
const AUTO_MERGE = 'merge_requests.auto_merge';

export const mergeRequestsCapability = (
  services: ReconcileServices &
    AfterServices &
    ClosingServices &
    TraceServices &
    StatusCheckServices &
    CreationServices,
): Capability => ({
  name: 'merge-requests',
  registrations: [
    noteables.add(mergeRequestDefinition),
    referenceDefinitions.add(mergeRequestReferences),
    plannedKinds.add(plannedMergeRequests),
    todoTargets.add(mergeRequestTodoTarget),
    userCounts.add(mergeRequestCounts),
    activityTargets.add(mergeRequestActivityTarget),
    settingFollowUps.add(followApprovalsBeforeMerge, checkTitlePattern),
    notificationFacts.add(...mergeRequestFacts),
    notificationSubjects.add(mergeRequestSubject),
    pushFollowers.add(followPushOptions),
    collaborations.add(collaboration),
    hookSources.add(...mergeRequestHooks),
    hookSamples.add(mergeRequestSample),
    hookNoteables.add(mergeRequestOfNotes),
    metadataSources.add(mergeRequestMetadata),
    openMergeRequests.add(selectOpenFrom),
  ],
  endpoints: [
    ...mergeRequestConversation.all,
    ...mergeRequestListEndpoints,
    ...mergeRequestsAroundEndpoints,
    ...mergeRequestOpeningEndpoints,
    ...mergeEndpoints,
    ...dependencyEndpoints,
    ...mergeTrainEndpoints,
    ...statusCheckEndpoints,
    mergeRequestTodoEndpoint,
    ...mergeRequestSubscriptionEndpoints,
    ...mergeRequestPeopleEndpoints,
    ...mergeRequestTimeEndpoints,
    ...mergeRequestEventEndpoints,
    ...approvalEndpoints,
    ...ownRuleEndpoints,
    ...approvalSettingEndpoints,
    ...approvalRuleEndpoints,
    ...settingRuleEndpoints,
    ...diffEndpoints,
    ...versionEndpoints,
    mergeRequestCommitsEndpoint,
    ...contextCommitEndpoints,
    mergeRefEndpoint,
    ...draftNoteEndpoints,
    ...suggestionEndpoints,
    ...mergeRequestIssueEndpoints,
    ...mergeRequestPipelineEndpoints,
  ],
  tasks: {
    [FOLLOW_PUSH]: followPush(services),
    [FOLLOW_INTERRUPTED]: followInterrupted(services),
    [JUDGE_BRANCH]: judgeBranch(services),
    [ADD_UNMERGEABLE_TODOS]: addUnmergeableTodos(services),
    [ADD_FAILED_TODOS]: addFailedTodos(services),
    [CLOSE_FOR_MERGED]: closeForMerged(services),
    [CLOSE_FOR_COMMITS]: closeForCommits(services),
    [RECONCILE]: () => reconcileMerges(services),
    [AFTER_MERGE]: afterMerge(services),
    [AUTO_MERGE]: autoMerge(services),
    [REQUESTED_MERGE]: mergeRequested(services),
    [REQUESTED_REBASE]: rebaseRequested(services),
    [TRACE_NOTES]: traceNotes(services),
    [REMOVE_REFS]: removeRefs(services),
    [REMOVE_OLD_REFS]: removeOldRefs(services),
    ...statusCheckTasks(services),
    [CALL_APPROVERS]: callApprovers(services),
    [RETARGET]: retargetAfterPush(services),
    [MENTION_NAMED]: mentionNamed(services, mentioningMergeRequests),
    [MENTION_BY_COMMITS]: mentionByCommits(services),
    [NOTE_PICKED]: notePicked(services),
    [MAKE_PIPELINE]: makePipeline(services),
  },
  listeners: [
    { fact: 'repository_pushed', task: FOLLOW_PUSH },
    { fact: 'merge_requests_unjudged', task: JUDGE_BRANCH },
    { fact: 'merge_request_merged', task: CLOSE_FOR_MERGED },
    { fact: 'repository_pushed', task: CLOSE_FOR_COMMITS },
    { fact: WRITE_INTERRUPTED, task: RECONCILE },
    { fact: WRITE_INTERRUPTED, task: FOLLOW_INTERRUPTED },
    { fact: 'merge_request_merged', task: AFTER_MERGE, when: removesSource },
    { fact: 'merge_request_merged', task: AUTO_MERGE },
    { fact: 'merge_request_updated', task: AUTO_MERGE },
    { fact: 'merge_request_status_check_passed', task: AUTO_MERGE },
    ...statusCheckListeners(services),
    callingListener(services),
    { fact: 'merge_request_approved', task: AUTO_MERGE },
    {
      fact: 'pipeline_changed',
      task: AUTO_MERGE,
      when: ({ status }) => status === 'success' || status === 'skipped',
    },
    { fact: 'merge_request_deleted', task: REMOVE_REFS },
    retargetListener,
    { fact: 'repository_pushed', task: MENTION_BY_COMMITS },
    { fact: 'pipeline_finished', task: ADD_FAILED_TODOS, when: isOfFailedBranch },
    { fact: 'commit_picked', task: NOTE_PICKED },
    ...mentionListeners,
    ...pipelineListeners,
  ],
  schedules: [
    { task: RECONCILE, pattern: '* * * * *' },
    { task: AUTO_MERGE, pattern: '* * * * *' },
    { task: REMOVE_OLD_REFS, pattern: '33 * * * *' },
  ],
  tables: [
    'merge_requests',
    'merge_request_assignees',
    'merge_request_reviewers',
    'merge_request_versions',
    'merge_request_commits',
    'merge_request_closing_issues',
    'merge_request_context_commits',
    'merge_request_approvals',
    'merge_request_committers',
    'approval_rules',
    'approval_rule_users',
    'approval_rule_groups',
    'approval_rule_branches',
    'approval_settings',
    'draft_notes',
    'suggestions',
    'merge_request_blocks',
    'external_status_checks',
    'external_status_check_branches',
    'status_check_responses',
  ],
  unique: {
    approval_rules_project_name: { property: 'name' },
    approval_rules_group_name: { property: 'name' },
    external_status_checks_name: { property: 'name' },
    external_status_checks_url: { property: 'external_url' },
    approval_rules_merge_request_name: { property: 'name' },
  },
  // A project's merge requests are deleted with it, by foreign key.
  reassign: reassignMergeRequests,
});
