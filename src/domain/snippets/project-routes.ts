/** Snippets of projects: readers see those that their role shows them, authors and Maintainers change them (facts: Snippets). */
import { onInstance, onProject } from '../../kernel/access/access.ts';
import { type AuthorizedProject, authorizeProject } from '../../kernel/access/find.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import type { Db } from '../../platform/db/database.ts';
import { forbidden, notFound } from '../../platform/failure.ts';
import { createSnippet, deleteSnippet, updateSnippet } from './actions.ts';
import { RawSnippetFile, readFile } from './files.ts';
import { presentOne, presentPage, presentUserAgent } from './present.ts';
import { inProject, type SnippetRow, selectSnippet, selectSnippets, visibleInProject } from './queries.ts';
import {
  BODY_LIMIT,
  CreateInProject,
  FileOfProject,
  ListInput,
  OneOfProject,
  UpdateInProject,
  UserAgentDetail,
  UserAgentOfProject,
} from './schema.ts';
import { seesInProject } from './snippet-policy.ts';
import { SnippetRecord } from './snippet-records.ts';

const path = '/projects/:id/snippets';
const pathOfOne = `${path}/:snippet_id` as const;

/** The snippet of the project; 404 unless the caller sees it. */
async function find(db: Db, caller: Caller, project: AuthorizedProject, id: number): Promise<SnippetRow> {
  const snippet = found(await selectSnippet(db, id, project.id), 'Snippet');
  if (!seesInProject(caller, snippet, project.role)) throw notFound('Snippet');
  return snippet;
}

/** The same, for a change: 403 for a caller who is neither its author nor a Maintainer. */
async function findForChange(
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  id: number,
): Promise<SnippetRow> {
  const snippet = await find(db, actor, project, id);
  if (snippet.author_id !== actor.id && !project.may('manage_project_snippets')) throw forbidden();
  return snippet;
}

export const projectSnippetsEndpoint = listing({
  method: 'GET',
  path,
  summary: 'Snippets of a project, newest first.',
  also: [422],
  access: onProject('read_project_snippets'),
  page: 'offset',
  input: ListInput,
  item: SnippetRecord,
  handle: async (context) => {
    const { db, actor, subject, input, page } = context;
    const conditions = [inProject(subject.id), visibleInProject(actor, subject.role)];
    return presentPage(context, await selectSnippets(db, conditions, input, page));
  },
});

export const projectSnippetEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'One snippet of a project.',
  also: [422],
  access: onProject('read_project_snippets'),
  input: OneOfProject,
  reply: SnippetRecord,
  handle: async (context) => {
    const { db, actor, subject, input } = context;
    return presentOne(context, await find(db, actor, subject, input.snippet_id));
  },
});

export const rawProjectSnippetEndpoint = endpoint({
  method: 'GET',
  path: `${pathOfOne}/raw`,
  summary: 'The first file of a snippet of a project.',
  also: [422],
  access: onProject('read_project_snippets'),
  input: OneOfProject,
  reply: RawSnippetFile,
  handle: async ({ db, services, actor, subject, input }) => {
    const snippet = await find(db, actor, subject, input.snippet_id);
    return readFile(services, snippet, snippet.default_branch, snippet.files[0] ?? '');
  },
});

export const projectSnippetFileEndpoint = endpoint({
  method: 'GET',
  path: `${pathOfOne}/files/:ref/:file_path/raw`,
  summary: 'A file of a snippet of a project at a revision.',
  also: [422],
  access: onProject('read_project_snippets'),
  input: FileOfProject,
  reply: RawSnippetFile,
  handle: async ({ db, services, actor, subject, input }) => {
    const snippet = await find(db, actor, subject, input.snippet_id);
    return readFile(services, snippet, input.ref, input.file_path);
  },
});

export const projectEndpoints: Endpoint[] = [
  projectSnippetsEndpoint,
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a snippet in a project.',
    access: onProject('create_project_snippets'),
    also: [409, 422],
    bodyLimit: BODY_LIMIT,
    input: CreateInProject,
    reply: SnippetRecord,
    handle: async (context) => {
      const { services, settings, actor, subject, input, request } = context;
      const scene = { services, settings, actor, project: subject };
      return presentOne(context, await createSnippet(scene, input, request));
    },
  }),
  projectSnippetEndpoint,
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes a snippet of a project; what is not sent stays as it is.',
    access: onProject('create_project_snippets'),
    also: [409, 422],
    bodyLimit: BODY_LIMIT,
    input: UpdateInProject,
    reply: SnippetRecord,
    handle: async (context) => {
      const { db, services, settings, actor, subject, input, request } = context;
      const { snippet_id, ...changes } = input;
      const snippet = await findForChange(db, actor, subject, snippet_id);
      const scene = { services, settings, actor, project: subject };
      return presentOne(context, await updateSnippet(scene, snippet, changes, request));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a snippet of a project with its repository.',
    also: [422],
    access: onProject('create_project_snippets'),
    input: OneOfProject,
    reply: noContent,
    handle: async ({ db, services, settings, actor, subject, input, unmodified }) => {
      const snippet = await findForChange(db, actor, subject, input.snippet_id);
      await deleteSnippet({ services, settings, actor, project: subject }, snippet, unmodified);
      return null;
    },
  }),
  rawProjectSnippetEndpoint,
  projectSnippetFileEndpoint,
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/user_agent_detail`,
    summary: 'What a snippet of a project was made with.',
    also: [422],
    access: onInstance,
    input: UserAgentOfProject,
    reply: UserAgentDetail,
    handle: async ({ db, services, actor, input }) => {
      const { sql } = services.database;
      const project = await authorizeProject(sql, actor, 'read_project', input.id);
      return presentUserAgent(found(await selectSnippet(db, input.snippet_id, project.id), 'Snippet'));
    },
  }),
];
