/** Releases of projects and groups (facts: CI lint, secure files, releases; facts-ci: 7.3). */
import { onGroup, onProject } from '../../kernel/access/access.ts';
import { selectProjects } from '../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../kernel/api/endpoint.ts';
import { withoutCredentials } from '../../kernel/api/moved.ts';
import type { Db } from '../../platform/db/database.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { createRelease, deleteRelease, requireTag, updateRelease } from './actions.ts';
import { collectEvidence } from './evidences/actions.ts';
import { linkEndpoints } from './links/routes.ts';
import { presentAcross, presentBasic, presentOne, presentReleases } from './present.ts';
import { selectGroupReleases, selectLatestTag, selectRelease, selectReleases } from './queries.ts';
import { suffixOf } from './rules.ts';
import {
  CreateInput,
  GroupListInput,
  GroupRelease,
  LatestBelowInput,
  LatestInput,
  ListInput,
  OneInput,
  Release,
  TagInput,
  UpdateInput,
} from './schema.ts';

const path = '/projects/:id/releases';
const pathOfOne = `${path}/:tag_name` as const;
const latest = `${path}/permalink/latest` as const;
const read = onProject('read_releases');
const manage = onProject('manage_releases');

export const releasesEndpoint = listing({
  method: 'GET',
  path,
  summary: 'Releases of a project, the latest first.',
  also: [422],
  access: read,
  jobToken: true,
  page: 'offset',
  input: ListInput,
  item: Release,
  handle: async (context) => {
    const { db, subject, input, page } = context;
    const releases = await selectReleases(db, subject, input, page);
    const html = input.include_html_description;
    return { ...releases, items: await presentReleases(context, subject, releases.items, { html }) };
  },
});

export const releaseEndpoint = endpoint({
  method: 'GET',
  path: pathOfOne,
  summary: 'A release of a project, by its tag.',
  also: [422],
  access: read,
  jobToken: true,
  input: OneInput,
  reply: Release,
  handle: async (context) => {
    const { db, subject, input } = context;
    const row = found(await selectRelease(db, subject.id, input.tag_name));
    return presentOne(context, subject, row, { html: input.include_html_description });
  },
});

type Latest = {
  db: Db;
  subject: Parameters<typeof selectLatestTag>[1];
  request: HttpRequest;
  input: { order_by?: 'released_at' | 'created_at' };
};

/** To the address of the latest release, and the path and query that the client has after that. */
async function leadToLatest({ db, subject, request, input }: Latest, below: string): Promise<Reply<null>> {
  const tag = found(await selectLatestTag(db, subject, input.order_by ?? 'released_at'), 'Release');
  const suffix = suffixOf(below);
  if (suffix === undefined) throw notFound();
  const kept = withoutCredentials(request.query)
    .split('&')
    .filter((part) => part !== '' && !/^order_by(=|$)/.test(part))
    .join('&');
  const address = `${request.origin}/api/v4/projects/${subject.id}/releases/${encodeURIComponent(tag)}${suffix}`;
  return new Reply(302, null, { location: kept === '' ? address : `${address}?${kept}` });
}

const permalinkEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: latest,
    summary: 'Leads to the latest release of a project.',
    access: read,
    jobToken: true,
    input: LatestInput,
    status: 302,
    reply: noContent,
    handle: (context) => leadToLatest(context, ''),
  }),
  endpoint({
    method: 'GET',
    path: `${latest}/:suffix_path`,
    summary: 'Leads to what is below the latest release of a project.',
    access: read,
    jobToken: true,
    input: LatestBelowInput,
    takesRest: true,
    status: 302,
    reply: noContent,
    handle: (context) => leadToLatest(context, context.input.suffix_path),
  }),
];

export const releaseEndpoints: Endpoint[] = [
  releasesEndpoint,
  listing({
    method: 'GET',
    path: '/groups/:id/releases',
    summary: 'Releases of the projects of a group and its subgroups, the latest first.',
    also: [422],
    access: onGroup('read_group'),
    page: 'offset',
    input: GroupListInput,
    item: GroupRelease,
    handle: async (context) => {
      const { db, services, actor, subject, input, page } = context;
      const releases = await selectGroupReleases(db, actor, subject, input.sort ?? 'desc', page);
      if (input.simple) return { ...releases, items: releases.items.map(presentBasic) };
      const paths = [...new Set(releases.items.map(({ full_path }) => full_path))];
      const projects = await selectProjects(services.database.points, actor, 'read_releases', paths);
      return { ...releases, items: await presentAcross(context, releases.items, projects) };
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: 'Makes a release of a project, and its tag where that is missing.',
    also: [409, 422],
    access: manage,
    jobToken: true,
    input: CreateInput,
    bodyLimit: 4_194_304,
    reply: Release,
    handle: async (context) =>
      presentOne(context, context.subject, await createRelease(context, context.input)),
  }),
  releaseEndpoint,
  endpoint({
    method: 'PUT',
    path: pathOfOne,
    summary: 'Changes a release of a project.',
    also: [422],
    access: manage,
    jobToken: true,
    input: UpdateInput,
    bodyLimit: 4_194_304,
    reply: Release,
    handle: async (context) => {
      const { tag_name, ...changes } = context.input;
      return presentOne(context, context.subject, await updateRelease(context, tag_name, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: pathOfOne,
    summary: 'Deletes a release of a project; its tag stays.',
    also: [422],
    access: manage,
    jobToken: true,
    input: TagInput,
    status: 200,
    reply: Release,
    handle: async (context) => {
      const { db, subject, input, unmodified } = context;
      const row = found(await selectRelease(db, subject.id, input.tag_name));
      const record = await presentOne(context, subject, row);
      await deleteRelease(context, input.tag_name, unmodified);
      return record;
    },
  }),
  endpoint({
    method: 'POST',
    path: `${pathOfOne}/evidence`,
    summary: 'Collects evidence of a release.',
    also: [422],
    access: manage,
    jobToken: true,
    input: TagInput,
    status: 202,
    reply: Release,
    handle: async (context) => {
      const { db, subject, input } = context;
      await requireTag(context, input.tag_name);
      return presentOne(context, subject, await collectEvidence(db, subject.id, input.tag_name));
    },
  }),
  ...linkEndpoints,
  ...permalinkEndpoints,
];
