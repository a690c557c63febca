/** Conversation: notes, threads, awards, mentions, to-dos and quick actions, on whatever noteable. */
export { conversationCapability, conversationEndpoints } from './capability.ts';
export { type MentionSource, writeMentions } from './cross-references/mention-actions.ts';
export {
  changesTexts,
  commentListeners,
  MAX_NAMING_LENGTH,
  type MentioningKind,
  type MentionServices,
  mayName,
  mentionNamed,
  namedIn,
  projectWriter,
  writtenTexts,
} from './cross-references/mention-named.ts';
export { type IssueReference, issueReferences } from './cross-references/references-in-texts.ts';
export { outsideCode } from './mentions/code-spans.ts';
export { fencedBlocks } from './mentions/fences.ts';
export { ALL, findGroupMentions } from './mentions/group-mentions.ts';
export { findMentionTodos, type MentionTodo } from './mentions/mention-todos.ts';
export { mentionedNames, readerRule, readersAmong } from './mentions/mentions.ts';
export { type Person, usersByIds, usersByName } from './mentions/queries.ts';
export {
  findActor,
  findUserOfGroup,
  findUserOfProject,
  type UserOfGroup,
  type UserOfProject,
} from './mentions/user-rights.ts';
export { type CrossReference, crossReferenceTable, inProjects } from './noteables/cross-reference-queries.ts';
export {
  fullPathOf,
  inNamedProjects,
  mayNameNoteables,
  type NamedNoteable,
} from './noteables/named-noteables.ts';
export { groupOf, type NoteableResource, projectOf } from './noteables/noteable-resources.ts';
export { mayComment, type Noteable, type NoteableKind, type NoteableParent } from './noteables/noteables.ts';
export { setSubscription } from './noteables/subscription-actions.ts';
export { selectSubscribed } from './noteables/subscription-queries.ts';
export { addTodos, completeTodos, completionOfTodos } from './noteables/todo-actions.ts';
export type { ActorContext, WriteContext } from './noteables/write-context.ts';
export { continueThreads, findOpenThreads, type OpenThreads } from './notes/continue-actions.ts';
export { insertSystemNotes } from './notes/insert-actions.ts';
export { createNote } from './notes/note-actions.ts';
export { DiscussionRecord, NoteRecord, Position, presentNotes } from './notes/note-records.ts';
export {
  type NoteableDefinition,
  noteableKinds,
  noteables,
  plainQuickActions,
} from './notes/noteable-registry.ts';
export {
  type NotePosition,
  type NoteRow,
  newDiscussionId,
  positionOf,
  selectRelations,
} from './notes/notes.ts';
export { diffPosition, isComplete as isCompletePosition, storedPosition } from './notes/positions.ts';
export { type Presenting as PresentContext, presentNote, presentNotePage } from './notes/present.ts';
export { findThread, selectNotes } from './notes/queries.ts';
export { setResolved } from './notes/resolve-actions.ts';
export { requireText } from './notes/rules.ts';
export {
  MAX_REQUEST_BYTES,
  notePosition,
  noteText,
  type PositionInput,
  SuggestionRecord,
} from './notes/schema.ts';
export { noteSearch } from './notes/search-scope.ts';
export { applyOwnEffect } from './quick-actions/command-effects.ts';
export { awardRules, followRules, type OwnEffect, textRules } from './quick-actions/command-rules.ts';
export { type CommandRule, type Known, referencesIn } from './quick-actions/command-terms.ts';
export {
  byNames,
  type Command,
  commandsIn,
  type Interpretation,
  interpretCommands,
  leaves,
  stays,
} from './quick-actions/commands.ts';
export { participantsEndpoint } from './subscriptions/participants-endpoint.ts';
export { subscriptionEndpoints } from './subscriptions/subscription-routes.ts';
export { todosCapability } from './todos/capability.ts';
export { type TodoTarget, todoTargets } from './todos/targets.ts';
export { todoEndpoint } from './todos/todo-endpoint.ts';
export { type UserCount, userCounts } from './todos/user-counts.ts';
