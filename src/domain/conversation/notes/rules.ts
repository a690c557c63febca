/** Rules of conversations. Pure. */

import type { Actor } from '../../../kernel/actor.ts';
import { OWNER } from '../../../kernel/policy/roles.ts';
import { badRequest, forbidden, invalid } from '../../../platform/failure.ts';
import { mayComment, type Noteable } from '../noteables/noteables.ts';
import { isResolvable } from './note-records.ts';
import type { NoteRow } from './notes.ts';

/** 403 in a locked discussion, except for members. */
export function requirePart(noteable: Noteable): void {
  if (!mayComment(noteable)) throw forbidden();
}

/** 400 for a blank note. */
export function requireText(body: string): void {
  if (body.trim() === '') throw invalid({ note: ["can't be blank"] });
}

const moderates = ({ project, group }: Noteable): boolean =>
  project?.may('moderate_notes') ?? group?.may('moderate_epic_notes') ?? false;

/** 403 for system notes, and for users who are neither author nor moderator. */
export function requireEditable(noteable: Noteable, actor: Actor, note: NoteRow): void {
  requirePart(noteable);
  if (note.system_action !== null) throw forbidden();
  if (note.author_id !== actor.id && !moderates(noteable)) throw forbidden();
}

/** 403 except for those who may resolve threads of the kind; 400 where it is no thread. */
export function requireResolver(noteable: Noteable, actor: Actor, thread: readonly NoteRow[]): void {
  const [first] = thread;
  if (!first || !isResolvable(noteable.kind, first)) throw badRequest('This discussion cannot be resolved');
  requirePart(noteable);
  if (!mayResolve(noteable, actor, first)) throw forbidden();
}

function mayResolve(noteable: Noteable, actor: Actor, first: NoteRow): boolean {
  const { kind, project, group, authorId } = noteable;
  if (kind.mayResolve) return kind.mayResolve(noteable, actor);
  const ofTeam = project?.may('update_issues') ?? group?.may('update_epics') ?? false;
  return ofTeam || first.author_id === actor.id || authorId === actor.id;
}

/** Whether the caller may set the time of a note. */
export const setsTimes = ({ project, group }: Noteable): boolean =>
  (project?.role ?? group?.role ?? 0) >= OWNER;
