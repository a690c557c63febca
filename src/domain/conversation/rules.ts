/** Who may do what in a conversation. Pure. */

import { OWNER } from '../../core/access/roles.ts';
import type { Actor } from '../../core/identity/actor.ts';
import { isResolvable } from '../../core/work/note-records.ts';
import type { NoteRow } from '../../core/work/notes.ts';
import { mayTakePart, type Target } from '../../core/work/targets.ts';
import { badRequest, forbidden, invalid } from '../../platform/failure.ts';

/** 403 in a locked discussion, for who is no member. */
export function requirePart(target: Target): void {
  if (!mayTakePart(target)) throw forbidden();
}

/** 400 for a note that says nothing. */
export function requireText(body: string): void {
  if (body.trim() === '') throw invalid({ note: ["can't be blank"] });
}

const moderates = ({ project, group }: Target): boolean =>
  project?.may('moderate_notes') ?? group?.may('moderate_epic_notes') ?? false;

/** 403 for who neither wrote the note nor moderates, and for what the system wrote. */
export function requireEditable(target: Target, actor: Actor, note: NoteRow): void {
  requirePart(target);
  if (note.system_action !== null) throw forbidden();
  if (note.author_id !== actor.id && !moderates(target)) throw forbidden();
}

/** 403 for who has neither the team's rights, nor begun the thread, nor written what it is about; 400 for what is no thread. */
export function requireResolver(target: Target, actor: Actor, thread: readonly NoteRow[]): void {
  const [first] = thread;
  if (!first || !isResolvable(first)) throw badRequest('This discussion cannot be resolved');
  requirePart(target);
  const { project, group } = target;
  const ofTeam = project?.may('update_issues') ?? group?.may('update_epics') ?? false;
  if (!ofTeam && first.author_id !== actor.id && target.authorId !== actor.id) throw forbidden();
}

/** Who may say when a note was written. */
export const setsTimes = ({ project, group }: Target): boolean =>
  (project?.role ?? group?.role ?? 0) >= OWNER;
