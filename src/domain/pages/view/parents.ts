/** The project or group before the dash of an address, and the layouts of their pages. */
import {
  type AuthorizedGroup,
  type AuthorizedProject,
  authorizeGroup,
  authorizeProject,
} from '../../../kernel/access/find.ts';
import { projectIsArchived } from '../../../kernel/namespaces/rows.ts';
import { visibilityName } from '../../../kernel/policy/roles.ts';
import { notFound } from '../../../platform/failure.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { type Html, type HtmlValue, html } from '../../../platform/http/pages/html.ts';
import { groupNumbered } from '../queries.ts';
import { choices, inAddress, tag, wordTag } from './components.ts';
import { show, type ViewContext } from './view-context.ts';

/** The group with this full path; a number is a name here, not an id. */
export async function groupAt({ services, db, caller }: ViewContext, path: string): Promise<AuthorizedGroup> {
  const reference = /^\d+$/.test(path) ? await groupNumbered(db, path) : path;
  if (reference === undefined) throw notFound('Group');
  return authorizeGroup(services.database.points, caller, 'read_group', reference);
}

/** The project with this full path. */
export async function projectAt({ services, caller }: ViewContext, path: string): Promise<AuthorizedProject> {
  if (!path.includes('/')) throw notFound('Project');
  return authorizeProject(services.database.points, caller, 'read_project', path);
}

/** The number of a record in the path; 404 for any other text. */
export function numberIn(view: ViewContext, name: string): number {
  const number = view.param(name);
  if (!/^[1-9]\d{0,8}$/.test(number)) throw notFound();
  return Number(number);
}

const GROUPS = 'groups/';

export const isGroupPath = (path: string): boolean => path.startsWith(GROUPS);

/** The project before the dash; 404 for a group. */
export const projectOf = (view: ViewContext): Promise<AuthorizedProject> => {
  const path = view.param('path');
  if (isGroupPath(path)) throw notFound('Project');
  return projectAt(view, path);
};

/** The group before the dash, as `groups/<full path>`; 404 for a project. */
export const groupOf = (view: ViewContext): Promise<AuthorizedGroup> => {
  const path = view.param('path');
  if (!isGroupPath(path)) throw notFound('Group');
  return groupAt(view, path.slice(GROUPS.length));
};

/** Either of the two, with its own address. */
export type Home = {
  project?: AuthorizedProject;
  group?: AuthorizedGroup;
  id: number;
  /** Endpoints of both are named by it. */
  kind: 'project' | 'group';
  /** Address from the root, without a slash at the end. */
  address: string;
};

export async function homeOf(view: ViewContext): Promise<Home> {
  if (isGroupPath(view.param('path'))) {
    const group = await groupOf(view);
    return { group, id: group.id, kind: 'group', address: groupAddress(group) };
  }
  const project = await projectOf(view);
  return { project, id: project.id, kind: 'project', address: projectAddress(project) };
}

export const projectAddress = ({ fullPath }: AuthorizedProject): string => `/${fullPath}`;
export const groupAddress = ({ row }: AuthorizedGroup): string => `/groups/${row.full_path}`;

/** The parts of a project or group that have pages. */
export type Tab =
  | 'Overview'
  | 'Files'
  | 'Commits'
  | 'Branches'
  | 'Tags'
  | 'Releases'
  | 'Issues'
  | 'Merge requests'
  | 'Pipelines'
  | 'Packages'
  | 'Alerts'
  | 'Errors'
  | 'Epics'
  | 'Milestones'
  | 'Labels'
  | 'Snippets'
  | 'Wiki';

type Content = { title: string; tab: Tab; body: HtmlValue };

/** A group's path as links, the outermost first. */
function pathLinks(fullPath: string): Html[] {
  const parts = fullPath.split('/');
  return parts.map(
    (part, index) => html`<a href="/groups/${parts.slice(0, index + 1).join('/')}">${part}</a>`,
  );
}

const frame = (crumbs: readonly Html[], marks: HtmlValue, tabs: Html, body: HtmlValue): Html =>
  html`<nav class="crumbs" aria-label="Where this is">${crumbs.map(
    (crumb, index) => html`${index > 0 && html`<span aria-hidden="true">/</span>`}${crumb}`,
  )}${marks}</nav>
${tabs}
<div class="page">${body}</div>`;

/** A page of a project below its path and the tabs that the reader may see. */
export function showInProject(view: ViewContext, project: AuthorizedProject, content: Content): HttpResponse {
  const { row } = project;
  const address = projectAddress(project);
  const code = project.may('read_code') && !row.empty_repo;
  const tabs: [Tab, string, boolean][] = [
    ['Overview', address, true],
    ['Files', `${address}/-/tree/${inAddress(row.default_branch ?? 'HEAD')}`, code],
    ['Commits', `${address}/-/commits/${inAddress(row.default_branch ?? 'HEAD')}`, code],
    ['Branches', `${address}/-/branches`, code],
    ['Tags', `${address}/-/tags`, code],
    ['Releases', `${address}/-/releases`, project.may('read_releases')],
    ['Issues', `${address}/-/issues`, project.may('read_issues')],
    ['Merge requests', `${address}/-/merge_requests`, project.may('read_merge_requests')],
    ['Pipelines', `${address}/-/pipelines`, project.may('read_pipelines')],
    ['Packages', `${address}/-/packages`, project.may('read_packages')],
    ['Alerts', `${address}/-/alert_management`, project.may('read_alerts')],
    ['Errors', `${address}/-/error_tracking`, project.may('read_errors')],
    ['Milestones', `${address}/-/milestones`, project.may('read_planning')],
    ['Labels', `${address}/-/labels`, project.may('read_planning')],
    ['Snippets', `${address}/-/snippets`, project.may('read_project_snippets')],
    ['Wiki', `${address}/-/wikis`, project.may('read_wiki')],
  ];
  const owner =
    row.namespace_kind === 'user'
      ? [html`<a href="/${row.namespace_full_path}">${row.namespace_path}</a>`]
      : pathLinks(row.namespace_full_path);
  const crumbs = [...owner, html`<a href="${address}">${row.path}</a>`];
  const marks = [
    wordTag(visibilityName(row.visibility)),
    projectIsArchived(row) && tag('Archived', 'closed'),
  ];
  const body = frame(crumbs, marks, tabsOf('Project', tabs, content.tab), content.body);
  const name = `${row.namespace_full_name} / ${row.name}`;
  return show(view, content.tab === 'Overview' ? name : `${content.title} · ${name}`, body);
}

/** A page of a group below its path and the tabs that the reader may see. */
export function showInGroup(view: ViewContext, group: AuthorizedGroup, content: Content): HttpResponse {
  const { row } = group;
  const address = groupAddress(group);
  const paid = view.services.config.tier !== 'free';
  const tabs: [Tab, string, boolean][] = [
    ['Overview', address, true],
    ['Issues', `${address}/-/issues`, true],
    ['Merge requests', `${address}/-/merge_requests`, true],
    ['Epics', `${address}/-/epics`, paid && group.may('read_epics')],
    ['Milestones', `${address}/-/milestones`, group.may('read_planning')],
    ['Labels', `${address}/-/labels`, group.may('read_planning')],
    ['Wiki', `${address}/-/wikis`, paid && group.may('read_group_wiki')],
  ];
  const marks = [wordTag(visibilityName(row.visibility)), row.archived && tag('Archived', 'closed')];
  const body = frame(pathLinks(row.full_path), marks, tabsOf('Group', tabs, content.tab), content.body);
  return show(view, content.tab === 'Overview' ? row.full_name : `${content.title} · ${row.full_name}`, body);
}

const tabsOf = (name: string, tabs: readonly [Tab, string, boolean][], here: Tab): Html =>
  choices(
    name,
    tabs.filter(([, , there]) => there).map(([label, href]) => ({ label, href, here: label === here })),
  );

/** A page of the project or the group. */
export function showIn(view: ViewContext, { project, group }: Home, content: Content): HttpResponse {
  if (project) return showInProject(view, project, content);
  if (group) return showInGroup(view, group, content);
  throw notFound();
}
