/** Personal snippets, and the lists of all that a caller sees (facts: Snippets). */
import { anyone, onInstance, signedIn } from '../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import { forbidden } from '../../platform/failure.ts';
import { onOwnSnippet, onSnippet } from './access.ts';
import { createSnippet, deleteSnippet, updateSnippet } from './actions.ts';
import { RawSnippetFile, readFile } from './files.ts';
import { presentOne, presentPage, presentUserAgent } from './present.ts';
import { authoredBy, personalOnly, publicOnly, selectSnippet, selectSnippets } from './queries.ts';
import {
  BODY_LIMIT,
  CreatePersonal,
  FileOfPersonal,
  ListAllInput,
  ListInput,
  OnePersonal,
  UpdatePersonal,
  UserAgentDetail,
} from './schema.ts';
import { SnippetRecord } from './snippet-records.ts';
import { visibleSnippets } from './visibility-queries.ts';

const path = '/snippets';
const pathOfOne = `${path}/:id` as const;

export const snippetEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'One personal snippet.',
  also: [422],
  access: onSnippet,
  reply: SnippetRecord,
  handle: async (context) => presentOne(context, context.subject),
});

export const rawSnippetEndpoint = endpoint({
  method: 'GET',
  path: `${pathOfOne}/raw`,
  summary: 'The first file of a personal snippet.',
  also: [422],
  access: onSnippet,
  reply: RawSnippetFile,
  handle: async ({ services, subject }) =>
    readFile(services, subject, subject.default_branch, subject.files[0] ?? ''),
});

export const snippetFileEndpoint = endpoint({
  method: 'GET',
  path: `${pathOfOne}/files/:ref/:file_path/raw`,
  summary: 'A file of a personal snippet at a revision.',
  also: [422],
  access: onSnippet,
  input: FileOfPersonal,
  reply: RawSnippetFile,
  handle: async ({ services, subject, input }) => readFile(services, subject, input.ref, input.file_path),
});

export const personalEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: "The caller's own snippets, newest first.",
    also: [422],
    access: signedIn,
    page: 'offset',
    input: ListInput,
    item: SnippetRecord,
    handle: async (context) => {
      const { db, actor, input, page } = context;
      const conditions = [authoredBy(actor.id), visibleSnippets(actor)];
      return presentPage(context, await selectSnippets(db, conditions, input, page));
    },
  }),
  listing({
    method: 'GET',
    path: `${path}/public`,
    summary: 'Public personal snippets, newest first.',
    also: [422],
    access: anyone,
    page: 'offset',
    input: ListInput,
    item: SnippetRecord,
    handle: async (context) => {
      const { db, input, page } = context;
      return presentPage(context, await selectSnippets(db, [personalOnly, publicOnly], input, page));
    },
  }),
  listing({
    method: 'GET',
    path: `${path}/all`,
    summary: 'All snippets that the caller sees, newest first.',
    also: [422],
    access: signedIn,
    page: 'offset',
    input: ListAllInput,
    item: SnippetRecord,
    handle: async (context) => {
      const { db, actor, page } = context;
      const { repository_storage, ...times } = context.input;
      const filters = actor.admin ? context.input : times;
      return presentPage(context, await selectSnippets(db, [visibleSnippets(actor)], filters, page));
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a personal snippet.',
    access: signedIn,
    also: [409, 422],
    bodyLimit: BODY_LIMIT,
    input: CreatePersonal,
    reply: SnippetRecord,
    handle: async (context) => {
      const { services, settings, actor, input, request } = context;
      // External users have nothing of their own but memberships (facts: Roles and visibility).
      if (actor.external && !actor.admin) throw forbidden();
      const scene = { services, settings, actor, project: undefined };
      return presentOne(context, await createSnippet(scene, input, request));
    },
  }),
  snippetEndpoint,
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes a personal snippet; what is not sent stays as it is.',
    access: onOwnSnippet,
    also: [409, 422],
    bodyLimit: BODY_LIMIT,
    input: UpdatePersonal,
    reply: SnippetRecord,
    handle: async (context) => {
      const { services, settings, actor, subject, input, request } = context;
      const scene = { services, settings, actor, project: undefined };
      return presentOne(context, await updateSnippet(scene, subject, input, request));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a personal snippet with its repository.',
    also: [422],
    access: onOwnSnippet,
    reply: noContent,
    handle: async ({ services, settings, actor, subject, unmodified }) => {
      await deleteSnippet({ services, settings, actor, project: undefined }, subject, unmodified);
      return null;
    },
  }),
  rawSnippetEndpoint,
  snippetFileEndpoint,
  endpoint({
    method: 'GET',
    path: `${pathOfOne}/user_agent_detail`,
    summary: 'What a personal snippet was made with.',
    also: [422],
    access: onInstance,
    input: OnePersonal,
    reply: UserAgentDetail,
    handle: async ({ db, input }) =>
      presentUserAgent(found(await selectSnippet(db, input.id, null), 'Snippet')),
  }),
];
