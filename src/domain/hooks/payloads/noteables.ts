/** What notes are on, as their payloads show it: the owner of each kind registers how. */
import { Registry } from '../../../kernel/registry.ts';
import type { HookServices } from '../events/hook-events.ts';
import type { HookContext } from './read-parts.ts';

export type HookNoteable = {
  /** As notes and awards name it: `Issue`, `MergeRequest`, `Commit`, `Snippet`. */
  type: string;
  /** The field that it stands in. */
  field: string;
  /** The part, and whether it is for confidential hooks alone; undefined where it is gone. `id` of commits is their SHA. */
  partOf(
    services: HookServices,
    context: HookContext,
    id: number | string,
  ): Promise<{ part: object; url: string; isConfidential: boolean } | undefined>;
};

export const hookNoteables = new Registry<HookNoteable>();
