/** Activity targets: for each kind of thing that events are about, its owner registers a value. */
import type { RawBuilder, SqlBool } from 'kysely';
import type { Caller } from '../actor.ts';
import type { ProjectAbility } from '../policy/policy.ts';
import { Registry } from '../registry.ts';

export type ActivityTarget = {
  /** The type in events about it; without one, only notes on it make events. */
  type?: string;
  /** The column of `notes` that refers to it, where it has notes. */
  noteColumn?: 'issue_id' | 'merge_request_id' | 'snippet_id' | 'commit_sha' | 'alert_id';
  /** The public names of actions on it, where they are not the usual ones. */
  actionNames?: Readonly<Record<string, string>>;
  /** The abilities that isVisible() reads. */
  abilities: readonly ProjectAbility[];
  /**
   * The condition that the caller sees an event `e` about the target of this id, or about a note on it. The project `v`
   * has a column for each of the abilities, and `member`, which tells whether the caller is one; the CTE of callerCte()
   * is there, too.
   */
  isVisible(id: RawBuilder<unknown>, caller: Caller): RawBuilder<SqlBool>;
  /** Selects `iid` and `title`, which the event shows, in the event's project; without it the event has no title. */
  select?(id: RawBuilder<unknown>): RawBuilder<unknown>;
};

export const activityTargets = new Registry<ActivityTarget>();
