/** Webhooks of projects, groups and the instance: what happens is told to other servers. */
export { hooksCapability } from './capability.ts';
export {
  type HookEvent,
  type HookSample,
  type HookServices,
  hookSamples,
  hookSource,
  hookSources,
} from './events/hook-events.ts';
export { type Changed, type FactChanges, goneIds, hookChanges, stateIds } from './payloads/changes.ts';
export { type HookNoteable, hookNoteables } from './payloads/noteables.ts';
export {
  hookCommit,
  hookLabel,
  hookProject,
  hookRepository,
  hookTime,
  hookTimeOrNull,
  hookUser,
  type LabelPartRow,
} from './payloads/parts.ts';
export { selectLabelParts } from './payloads/queries.ts';
export {
  type HookContext,
  type HookPlace,
  readActor,
  readContext,
  readPlace,
  readUsers,
} from './payloads/read-parts.ts';
