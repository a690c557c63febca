/** Noteables that texts name, and the projects in which they are. */
import { type AuthorizedProject, selectProjects } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { ProjectAbility } from '../../../kernel/policy/policy.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { NoteableParent } from './noteables.ts';

/** A reference to a noteable; whether it exists is not checked. */
export type NamedNoteable = {
  kind: 'issue' | 'epic' | 'merge_request' | 'commit';
  /** As written: a full path, or without a slash the name of a project beside; undefined for the text's own project. */
  path: string | undefined;
  /** Its number, or the beginning of its id. */
  name: string;
};

/** Without these a text names nothing: most are not looked at any more. */
const hint = /[#!&]\d|\/\d|[0-9a-f]{7}/;

/** Whether it is worth while to look for references in the text. */
export const mayNameNoteables = (text: string): boolean => hint.test(text);

/** The path in full and in lower case; that of a project beside, or of a project of the group, begins as the text's own. */
export function fullPathOf({ project, group }: NoteableParent, path: string): string {
  const namespace = project?.row.namespace_full_path ?? group?.row.full_path ?? '';
  return (path.includes('/') ? path : `${namespace}/${path}`).toLowerCase();
}

/**
 * The references with their projects where the actor has the ability, by one statement. The receipts of `home` are the actor's.
 * What a text of a group names without a path is in no project.
 */
export async function inNamedProjects<Named extends { path: string | undefined }>(
  points: Sql,
  actor: Actor,
  ability: ProjectAbility,
  home: NoteableParent,
  named: readonly Named[],
): Promise<{ project: AuthorizedProject; named: Named }[]> {
  const own = home.project?.fullPath.toLowerCase() ?? '';
  const pathOf = ({ path }: Named) => (path === undefined ? own : fullPathOf(home, path));
  const others = [...new Set(named.map(pathOf))].filter((path) => path !== own);
  const projects = others.length > 0 ? await selectProjects(points, actor, ability, others) : new Map();
  if (home.project?.may(ability)) projects.set(own, home.project);
  return named.flatMap((each) => {
    const project: AuthorizedProject | undefined = projects.get(pathOf(each));
    return project ? [{ project, named: each }] : [];
  });
}
