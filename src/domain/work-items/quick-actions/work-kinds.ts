/** What quick actions need of issues and of epics: the owner of each registers it. */
import type { AuthorizedGroup, AuthorizedProject } from '../../../kernel/access/find.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { ActorContext, Noteable, NoteableKind } from '../../conversation/index.ts';
import type { IssueEffect } from './work-command-terms.ts';

export type WorkKind = {
  kind: NoteableKind;
  /** The sign of references to it in arguments. */
  sign: '#' | '&';
  /** The one of this number that the actor may name; `path` is empty for one of the home. */
  find(context: ActorContext, home: Home, path: string, iid: number): Promise<{ id: number }>;
  /** Runs an effect that changes more than properties. */
  apply?(context: ActorContext, noteable: Noteable, effect: IssueEffect): Promise<void>;
};

/** Where a text with commands is. */
export type Home = { project: AuthorizedProject | undefined; group: AuthorizedGroup | undefined };

export const workKinds = new Registry<WorkKind>();
