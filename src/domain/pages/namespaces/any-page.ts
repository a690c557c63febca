/**
 * The subject of an address without a dash: a person, a group or a project; a repository's address leads to
 * its page.
 */
import { redirect } from '../../../kernel/api/page.ts';
import { Failure } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { userNamed } from '../queries.ts';
import { groupAt, isGroupPath, projectAddress, projectAt } from '../view/parents.ts';
import type { ViewContext } from '../view/view-context.ts';
import { asksForGoImport, showGoImport } from './go-import.ts';
import { showGroup } from './group-page.ts';
import { showProject } from './project-page.ts';
import { showUser } from './user-page.ts';

/** The value, or undefined where the reader may see none. */
async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Failure && error.status >= 401 && error.status <= 404) return undefined;
    throw error;
  }
}

/** Of a project's path, only the characters of paths: the address is sent back, and `//host` would be another site. */
const snippetRepository = /^(?:([\w.-]+(?:\/[\w.-]+)+)\/)?snippets\/(\d{1,15})\.git$/;

/** The page of the person, group or project with this full path. */
export async function showAny(view: ViewContext): Promise<HttpResponse> {
  if (asksForGoImport(view)) return showGoImport(view);
  const path = view.param('path');
  const [isSnippet, home, snippet] = snippetRepository.exec(path) ?? [];
  if (isSnippet !== undefined)
    return redirect(`${home === undefined ? '' : `/${home}`}/-/snippets/${snippet}`);
  if (path.endsWith('.git')) return redirect(projectAddress(await projectAt(view, path.slice(0, -4))));
  if (isGroupPath(path)) return showGroup(view, await groupAt(view, path.slice('groups/'.length)));
  if (path.includes('/')) {
    const project = await unlessMissing(projectAt(view, path));
    if (project) return showProject(view, project);
  } else {
    const id = await userNamed(view.db, path);
    if (id !== undefined) return showUser(view, id);
  }
  return showGroup(view, await groupAt(view, path));
}
