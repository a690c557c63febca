/** Kinds of noteables: path, access, and features of each. */
import Type, { type TSchema } from 'typebox';
import { type Access, onGroup, onProject } from '../../core/access/access.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../../core/access/find.ts';
import { seesInProject } from '../../core/access/snippets.ts';
import { findAlert } from '../../core/alerts/alert-find.ts';
import { beginLog } from '../../core/alerts/links.ts';
import type { Context } from '../../core/endpoint.ts';
import type { Actor, Caller } from '../../core/identity/actor.ts';
import { projectRepository } from '../../core/repositories/containers.ts';
import { findEpic } from '../../core/work/epic-find.ts';
import { seesEpic } from '../../core/work/epic-visibility.ts';
import { findIssue } from '../../core/work/issue-find.ts';
import {
  alertNoteable,
  commitNoteable,
  epicNoteable,
  issueNoteable,
  type Noteable,
  type NoteableKind,
  snippetNoteable,
} from '../../core/work/noteables.ts';
import { type ResourceParent as Home, isProject } from '../../core/work/resource-parents.ts';
import { forbidden, notFound } from '../../platform/failure.ts';
import { findCommit } from '../../platform/git/refs.ts';
import { integerId } from '../../platform/http/schema.ts';

export type FindContext = Pick<
  Context<unknown, unknown, Caller>,
  'db' | 'services' | 'settings' | 'actor' | 'request'
>;

export type NoteableResource = {
  kind: NoteableKind;
  /** Path of one noteable, which `:noteable_id` names. */
  path: string;
  /** The noun in summaries. */
  noun: string;
  noteable: TSchema;
  tier?: 'premium';
  read: Access<Home, Caller>;
  /** Access for notes and awards; `find` answers callers who may not read. */
  write: Access<Home, Actor>;
  /** False for threads only: commits have comments of their own. */
  notes: boolean;
  /** Parameters of award paths, if there are awards: for epics the number, not the id. */
  awards: Pick<NoteableResource, 'noteable' | 'find'> | undefined;
  /** Whether there are internal notes. */
  internal: boolean;
  /** Whether threads can be resolved. */
  resolvable: boolean;
  /** Whether threads can have a position in a diff. */
  positioned: boolean;
  /** Finds the noteable; 404 for one that is missing or that the caller may not read. */
  find(context: FindContext, home: Home, named: unknown): Promise<Noteable>;
};

/** Each kind is mounted with the access of its own parent. */
function projectOf(home: Home): AuthorizedProject {
  if (!isProject(home)) throw notFound('Project');
  return home;
}

function groupOf(home: Home): AuthorizedGroup {
  if (isProject(home)) throw notFound('Group');
  return home;
}

const issue: Pick<NoteableResource, 'noteable' | 'find'> = {
  noteable: integerId({ description: 'The number of the issue in the project.' }),
  find: async ({ db, actor }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_issues')) throw forbidden();
    return issueNoteable(project, await findIssue(db, project, actor, Number(named)));
  },
};

const issues: NoteableResource = {
  ...issue,
  kind: 'issue',
  path: '/projects/:id/issues/:noteable_id',
  noun: 'an issue',
  read: onProject('read_issues'),
  write: onProject('create_notes'),
  notes: true,
  awards: issue,
  internal: true,
  resolvable: true,
  positioned: false,
};

const epics: NoteableResource = {
  kind: 'epic',
  path: '/groups/:id/epics/:noteable_id',
  noun: 'an epic',
  noteable: integerId({ description: 'The id of the epic.' }),
  tier: 'premium',
  read: onGroup('read_epics'),
  write: onGroup('create_epic_notes'),
  notes: true,
  awards: {
    noteable: integerId({ description: 'The number of the epic in the group.' }),
    find: async ({ db, actor }, home, named) => {
      const group = groupOf(home);
      return epicNoteable(group, await findEpic(db, group, actor, Number(named)));
    },
  },
  internal: true,
  resolvable: true,
  positioned: false,
  find: async ({ db }, home, named) => {
    const group = groupOf(home);
    const epic = await db
      .selectFrom('epics')
      .selectAll()
      .where('id', '=', Number(named))
      .where('namespace_id', '=', group.id)
      .executeTakeFirst();
    if (!epic || !seesEpic(group, epic)) throw notFound();
    return epicNoteable(group, epic);
  },
};

const snippet: Pick<NoteableResource, 'noteable' | 'find'> = {
  noteable: integerId({ description: 'The id of the snippet.' }),
  find: async ({ db, actor }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_project_snippets')) throw forbidden();
    const snippet = await db
      .selectFrom('snippets')
      .selectAll()
      .where('id', '=', Number(named))
      .where('project_id', '=', project.id)
      .where('ready', '=', true)
      .executeTakeFirst();
    if (!snippet || !seesInProject(actor, snippet, project.role)) throw notFound('Snippet');
    return snippetNoteable(project, snippet);
  },
};

const snippets: NoteableResource = {
  ...snippet,
  kind: 'snippet',
  path: '/projects/:id/snippets/:noteable_id',
  noun: 'a snippet',
  read: onProject('read_project_snippets'),
  write: onProject('create_notes'),
  notes: true,
  awards: snippet,
  internal: false,
  resolvable: false,
  positioned: false,
};

export const commits: NoteableResource = {
  kind: 'commit',
  path: '/projects/:id/repository/commits/:noteable_id',
  noun: 'a commit',
  noteable: Type.String({ maxLength: 255, description: 'A commit, or the name of a branch or tag.' }),
  read: onProject('read_code'),
  write: onProject('comment_on_commits'),
  notes: false,
  awards: undefined,
  internal: false,
  resolvable: false,
  positioned: true,
  find: async ({ services }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_code')) throw forbidden();
    const commit = await services.repositories.read(
      projectRepository(project.id),
      project.row.repository_storage,
      (git) => findCommit(git, String(named)),
    );
    if (!commit) throw notFound('Commit');
    const [title = ''] = commit.message.split('\n', 1);
    return commitNoteable(project, { oid: commit.oid, title });
  },
};

const alerts: NoteableResource = {
  kind: 'alert',
  path: '/projects/:id/alert_management_alerts/:noteable_id',
  noun: 'an alert',
  noteable: integerId({ description: 'The number of the alert in the project.' }),
  read: onProject('read_alerts'),
  write: onProject('create_notes'),
  notes: true,
  awards: undefined,
  internal: false,
  resolvable: false,
  positioned: false,
  find: async ({ db, services, settings, request }, home, named) => {
    const project = projectOf(home);
    if (!project.may('read_alerts')) throw forbidden();
    const alert = await findAlert(db, project, Number(named));
    // Reading goes on without the log while nothing can be written.
    const writes = !settings.maintenance_mode && services.disk.problem() === undefined;
    if (request.method !== 'DELETE' && writes) await beginLog(db, alert);
    return alertNoteable(project, alert);
  },
};

export const noteableResources: readonly NoteableResource[] = [issues, epics, snippets, commits, alerts];
