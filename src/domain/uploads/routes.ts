/** Uploads of projects and groups at the API (facts: Projects, uploads; Groups, uploads). */
import { type Access, onGroup, onProject } from '../../kernel/access/access.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import type { Actor, Caller } from '../../kernel/actor.ts';
import { downloadStatuses } from '../../kernel/api/blob-reply.ts';
import { bytesOf, type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { groupHome, type Home, keepUpload, projectHome, removeUpload, type UploadRow } from './actions.ts';
import { replyWithUpload } from './download.ts';
import { presentUpload, selectBySecret, selectUpload, selectUploads } from './queries.ts';
import { markdownOf, shownTypes } from './rules.ts';
import { IdInput, NewUploadRecord, SecretInput, UploadInput, UploadRecord } from './schema.ts';

function presentNew(home: Home, { id, secret, filename }: UploadRow): NewUploadRecord {
  const url = `/uploads/${secret}/${filename}`;
  return { id, url, full_path: `${home.path}${url}`, ...markdownOf(filename, url) };
}

function uploadEndpoints<Subject>(resource: {
  path: string;
  word: string;
  upload: Access<Subject, Actor>;
  read: Access<Subject, Caller>;
  manage: Access<Subject, Actor>;
  homeOf(subject: Subject): Home;
}): Endpoint[] {
  const { path, word, homeOf, manage } = resource;
  return [
    endpoint({
      method: 'POST',
      path,
      summary: `Keep a file for the texts of a ${word}.`,
      access: resource.upload,
      input: UploadInput,
      stream: true,
      reply: NewUploadRecord,
      async handle({ subject, ...context }) {
        const home = homeOf(subject);
        return presentNew(home, await keepUpload(context, home));
      },
    }),
    listing({
      method: 'GET',
      path,
      summary: `The files of the texts of a ${word}, newest first.`,
      access: manage,
      item: UploadRecord,
      page: 'offset',
      handle: async ({ db, subject, page }) =>
        mapPage(await selectUploads(db, homeOf(subject), page), presentUpload),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:upload_id`,
      summary: `The content of a file of the texts of a ${word}, by id.`,
      access: manage,
      input: IdInput,
      also: downloadStatuses,
      reply: bytesOf(...shownTypes, 'application/octet-stream'),
      handle: async ({ db, services, subject, input, request }) =>
        replyWithUpload(services, found(await selectUpload(db, homeOf(subject), input.upload_id)), request),
    }),
    endpoint({
      method: 'GET',
      path: `${path}/:secret/:filename`,
      summary: `The content of a file of the texts of a ${word}, by its address there.`,
      access: resource.read,
      input: SecretInput,
      also: downloadStatuses,
      reply: bytesOf(...shownTypes, 'application/octet-stream'),
      handle: async ({ db, services, subject, input, request }) =>
        replyWithUpload(services, found(await selectBySecret(db, homeOf(subject), input)), request),
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:upload_id`,
      summary: `Delete a file of the texts of a ${word}, by id.`,
      access: manage,
      input: IdInput,
      reply: noContent,
      async handle({ db, services, actor, subject, input, unmodified }) {
        const home = homeOf(subject);
        const upload = found(await selectUpload(db, home, input.upload_id));
        unmodified(upload.created_at);
        await removeUpload(services, actor, home, upload);
        return null;
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:secret/:filename`,
      summary: `Delete a file of the texts of a ${word}, by its address there.`,
      access: manage,
      input: SecretInput,
      reply: noContent,
      async handle({ db, services, actor, subject, input, unmodified }) {
        const home = homeOf(subject);
        const upload = found(await selectBySecret(db, home, input));
        unmodified(upload.created_at);
        await removeUpload(services, actor, home, upload);
        return null;
      },
    }),
  ];
}

export const endpoints: Endpoint[] = [
  ...uploadEndpoints<AuthorizedProject>({
    path: '/projects/:id/uploads',
    word: 'project',
    upload: onProject('upload_files'),
    read: onProject('read_project'),
    manage: onProject('manage_uploads'),
    homeOf: projectHome,
  }),
  ...uploadEndpoints<AuthorizedGroup>({
    path: '/groups/:id/uploads',
    word: 'group',
    upload: onGroup('upload_files'),
    read: onGroup('read_group'),
    manage: onGroup('manage_uploads'),
    homeOf: groupHome,
  }),
];
