/** Links of releases, and what leads to them. */
import { onProject } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { projectUrl } from '../../repositories/index.ts';
import { selectRelease } from '../queries.ts';
import { releaseUrl } from '../rules.ts';
import { createLink, deleteLink, updateLink } from './actions.ts';
import { presentLink } from './present.ts';
import { selectLink, selectLinkAt, selectLinks } from './queries.ts';
import { redirectAddress } from './rules.ts';
import { CreateInput, DownloadInput, ListInput, OneInput, ReleaseLink, UpdateInput } from './schema.ts';

const release = '/projects/:id/releases/:tag_name';
const path = `${release}/assets/links` as const;
const pathOfOne = `${path}/:link_id` as const;
const read = onProject('read_releases');
const manage = onProject('manage_releases');

const address = (
  { services, subject }: { services: Needs<'baseUrl'>; subject: AuthorizedProject },
  tag: string,
): string => releaseUrl(projectUrl(services.baseUrl(), subject), tag);

export const linkEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path,
    summary: 'Links of a release, the newest first.',
    access: read,
    jobToken: true,
    page: 'offset',
    input: ListInput,
    item: ReleaseLink,
    handle: async (context) => {
      const { db, subject, input, page } = context;
      const { id } = found(await selectRelease(db, subject.id, input.tag_name));
      const at = address(context, input.tag_name);
      return mapPage(await selectLinks(db, id, page), (row) => presentLink(at, row));
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Adds a link to a release.',
    access: manage,
    jobToken: true,
    input: CreateInput,
    reply: ReleaseLink,
    handle: async (context) => {
      const { tag_name, ...link } = context.input;
      return presentLink(address(context, tag_name), await createLink(context, tag_name, link));
    },
  }),
  endpoint({
    method: 'GET',
    path: pathOfOne,
    summary: 'A link of a release.',
    access: read,
    jobToken: true,
    input: OneInput,
    reply: ReleaseLink,
    handle: async (context) => {
      const { db, subject, input } = context;
      const { id } = found(await selectRelease(db, subject.id, input.tag_name));
      return presentLink(address(context, input.tag_name), found(await selectLink(db, id, input.link_id)));
    },
  }),
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes a link of a release.',
    access: manage,
    jobToken: true,
    input: UpdateInput,
    reply: ReleaseLink,
    handle: async (context) => {
      const { tag_name, link_id, ...changes } = context.input;
      return presentLink(address(context, tag_name), await updateLink(context, tag_name, link_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Removes a link from a release.',
    access: manage,
    jobToken: true,
    input: OneInput,
    status: 200,
    reply: ReleaseLink,
    handle: async (context) => {
      const { tag_name, link_id } = context.input;
      const row = await deleteLink(context, tag_name, link_id, context.unmodified);
      return presentLink(address(context, tag_name), row);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${release}/downloads/:direct_asset_path`,
    summary: 'Leads to the link of a release that has the path.',
    access: read,
    jobToken: true,
    input: DownloadInput,
    takesRest: true,
    status: 302,
    reply: noContent,
    handle: async ({ db, subject, input }) => {
      const { tag_name: tag, direct_asset_path } = input;
      const link = await selectLinkAt(db, { projectId: subject.id, tag, filepath: `/${direct_asset_path}` });
      return new Reply(302, null, { location: redirectAddress(found(link).url) });
    },
  }),
];
