/** Repositories: what holds them, what is pushed and read over HTTP and the API, moves and housekeeping. */
export { repositoriesCapability } from './capability.ts';
export type { CodeOwnersEntry } from './code-owners/code-owners.ts';
export { type NamedOwners, namedOwners } from './code-owners/named-owners.ts';
export {
  isOwner,
  levelOfUser,
  selectCandidates,
  selectNamedGroups,
  selectNamedUsers,
} from './code-owners/owner-queries.ts';
export { findCodeOwners } from './code-owners/read-code-owners.ts';
export { arrivingDiff } from './commits/arriving-diff.ts';
export { commitConversation } from './commits/commit-notes.ts';
export { lastPipelines } from './commits/last-pipelines.ts';
export { projectUrl } from './commits/present.ts';
export { readCommit, readRepository } from './commits/queries.ts';
export { CommitRecord, presentCommit, trailersOf } from './commits/records.ts';
export { existingBranch, newRef, revision } from './commits/revision-schema.ts';
export { commitDiffEndpoint, commitEndpoint, commitsEndpoint } from './commits/routes.ts';
export { countedPage, windowOf } from './commits/rules.ts';
export { DiffRecord, PipelineBasic, sha } from './commits/schema.ts';
export { areRelated } from './comparisons/queries.ts';
export { comparisonEndpoint } from './comparisons/routes.ts';
export { archiveEndpoint } from './files/archive-routes.ts';
export { replyWithStream } from './files/leased-stream.ts';
export { rawFileEndpoint } from './files/routes.ts';
export { housekeepingCapability } from './housekeeping/capability.ts';
export { gitAccess, gitHttpCapability } from './http/capability.ts';
export { storageMovesCapability } from './moves/capability.ts';
export type { MovableContainers } from './moves/movable-containers.ts';
export { scheduleMove, storageSet } from './moves/schedule-actions.ts';
export { protectedRefsCapability } from './protection/capability.ts';
export { type Collaboration, collaborations, sharedBranches } from './protection/collaborations.ts';
export { protectFirstBranch } from './protection/first-branch-actions.ts';
export { type RuleRow, ruleRows } from './protection/guard-queries.ts';
export { describeGrant } from './protection/present.ts';
export { guardByRows, guardRefs } from './protection/protection.ts';
export { selectReaching } from './protection/queries.ts';
export { selectProtectedBranches } from './protection/records.ts';
export { ProtectedBranch } from './protection/schema.ts';
export { inheritRule } from './push-rules/actions.ts';
export { pushRulesCapability } from './push-rules/capability.ts';
export { judgeByRule } from './push-rules/judge.ts';
export { pushRuleJson } from './push-rules/queries.ts';
export type { PushRule } from './push-rules/rules.ts';
export { countingWrite, countWrite } from './pushes/actions.ts';
export { authorOf, commitChanges, lostRace, type Person, signatureOf, writeRefs } from './pushes/commits.ts';
export { draftCommit, draftFirstCommit, writeProject } from './pushes/project-writes.ts';
export { type PushFollower, pushFollowers, type TakenPush } from './pushes/push-followers.ts';
export { recordPush } from './pushes/pushes.ts';
export { branchesEndpoint } from './refs/branch-routes.ts';
export { createTag } from './refs/tag-actions.ts';
export { publishedAt, tagReleases } from './refs/tag-releases.ts';
export { tagsEndpoint } from './refs/tag-routes.ts';
export { BlobRecord, searchFiles } from './search/files.ts';
export { commitSearch, fileSearch } from './search/search-scopes.ts';
export { WRITES_WAIT_UNTIL } from './store/actions.ts';
export {
  containerTables,
  groupWiki,
  projectRepository,
  projectWiki,
  repositoryPath,
  snippetRepository,
} from './store/containers.ts';
export {
  type InterruptedWrite,
  parseInterruptedWrite,
  WRITE_INTERRUPTED,
} from './store/interrupted-writes.ts';
export { streamLeased } from './store/leased-stream.ts';
export {
  type Judge,
  type PushTarget,
  pushDefaults,
  type RepositoryKind,
  type RepositoryRequest,
  repositoryKinds,
} from './store/repository-kinds.ts';
export { noSizes, selectGroupSizes, selectProjectSizes } from './store/statistics-queries.ts';
export { chooseStorage } from './store/storage-choice.ts';
export { createRepositories } from './store/store.ts';
export { readTemplate } from './templates/read-templates.ts';
export { type CommitContext, commitAccess, createCommit } from './write-commits/actions.ts';
