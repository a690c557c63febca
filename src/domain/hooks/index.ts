/** Webhooks of projects, groups and the instance: what happens is told to other servers. */
export { hooksCapability } from './capability.ts';
export {
  type HookAudience,
  type HookEvent,
  type HookSample,
  type HookServices,
  hookAudiences,
  hookSamples,
  hookSource,
  hookSources,
  wantsEvent,
} from './events/hook-events.ts';
export type { EventPlace } from './events/queries.ts';
export { isReachable, rulesOf } from './management/addresses.ts';
export { ALWAYS, type HookFlag } from './management/kinds.ts';
export { createListenedFlags, type ListenedFlags } from './management/listened-flags.ts';
export { absoluteImages } from './payloads/absolute-images.ts';
export { type Changed, type FactChanges, goneIds, hookChanges, stateIds } from './payloads/changes.ts';
export { namedEvents, namedTime } from './payloads/named-events.ts';
export { type HookNoteable, hookNoteables } from './payloads/noteables.ts';
export {
  type HookProject,
  hookCommit,
  hookEmail,
  hookLabel,
  hookProject,
  hookRepository,
  hookText,
  hookTime,
  hookTimeOrNull,
  hookUser,
  type LabelPartRow,
  NO_SSH_URL,
} from './payloads/parts.ts';
export { selectLabelParts } from './payloads/queries.ts';
export {
  type HookContext,
  type HookPlace,
  readActor,
  readContext,
  readPeople,
  readPlace,
  readUsers,
} from './payloads/read-parts.ts';
