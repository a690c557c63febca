/** What an address without a dash names: a person, a group or a project; a repository's address leads to its page. */
import { sql } from 'kysely';
import { redirect } from '../../core/page.ts';
import { Failure } from '../../platform/failure.ts';
import type { Answer } from '../../platform/http/answer.ts';
import type { Looking } from './door.ts';
import { asksForGoImport, showGoImport } from './go-import.ts';
import { showGroup } from './group-page.ts';
import { groupAt, isGroupPath, projectAddress, projectAt } from './places.ts';
import { showProject } from './project-page.ts';
import { showUser } from './user-page.ts';

/** The value, or undefined where there is nothing that the reader may see. */
async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Failure && error.status >= 401 && error.status <= 404) return undefined;
    throw error;
  }
}

async function userNamed({ db }: Looking, name: string): Promise<number | undefined> {
  const user = await db
    .selectFrom('users')
    .select('id')
    .where(sql`lower(username) collate "C"`, '=', name.toLowerCase())
    .where('deletion', 'is', null)
    .executeTakeFirst();
  return user?.id;
}

/** Of a project's path, what paths are made of alone: the address is sent back, and `//host` would be another site. */
const snippetRepository = /^(?:([\w.-]+(?:\/[\w.-]+)+)\/)?snippets\/(\d{1,15})\.git$/;

/** The page of whatever has this full path. */
export async function showAny(looking: Looking): Promise<Answer> {
  if (asksForGoImport(looking)) return showGoImport(looking);
  const path = looking.param('path');
  const [isSnippet, home, snippet] = snippetRepository.exec(path) ?? [];
  if (isSnippet !== undefined)
    return redirect(`${home === undefined ? '' : `/${home}`}/-/snippets/${snippet}`);
  if (path.endsWith('.git')) return redirect(projectAddress(await projectAt(looking, path.slice(0, -4))));
  if (isGroupPath(path)) return showGroup(looking, await groupAt(looking, path.slice('groups/'.length)));
  if (path.includes('/')) {
    const project = await unlessMissing(projectAt(looking, path));
    if (project) return showProject(looking, project);
  } else {
    const id = await userNamed(looking, path);
    if (id !== undefined) return showUser(looking, id);
  }
  return showGroup(looking, await groupAt(looking, path));
}
