/** Badges of projects and groups over HTTP. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';
import { fillProject } from '../../../test/support/repositories.ts';
import { askGit } from '../../../test/support/sample-repository.ts';

const ashlar = useApp();
let group: MadeGroup;
let project: MadeProject;
let maintainer: MadeUser;
let developer: MadeUser;
let ofProject: string;
let ofGroup: string;

beforeAll(async () => {
  group = await makeGroup(ashlar);
  const inner = await makeGroup(ashlar, { parent_id: group.id });
  project = await makeProject(ashlar, { namespace_id: inner.id, name: 'A title' });
  ({ maintainer } = await makeMembers(ashlar, `groups/${group.id}`, 'maintainer'));
  ({ developer } = await makeMembers(ashlar, `projects/${project.id}`, 'developer'));
  ofProject = `/projects/${project.id}/badges`;
  ofGroup = `/groups/${group.id}/badges`;
});

const urls = { link_url: 'https://example.com/%{project_path}', image_url: 'https://example.com/x.svg' };
const make = async (path: string, body: object = {}) =>
  bodyOf(await ashlar.root(`POST ${path}`, { body: { ...urls, ...body } }), 201);

describe.each(['project', 'group'] as const)('a badge of a %s', (kind) => {
  const path = () => (kind === 'project' ? ofProject : ofGroup);

  test('is made, shown, changed and deleted', async () => {
    const made = await make(path(), { name: 'CI' });
    expect(made).toEqual({
      id: expect.any(Number),
      name: 'CI',
      ...urls,
      rendered_link_url:
        kind === 'project' ? `https://example.com/${project.path_with_namespace}` : urls.link_url,
      rendered_image_url: urls.image_url,
      kind,
    });
    expect(bodyOf(await ashlar.root(`GET ${path()}/${made.id}`), 200)).toEqual(made);
    expect(bodyOf(await ashlar.root(`GET ${path()}`, { query: 'name=CI' }), 200)).toEqual([made]);
    expect(bodyOf(await ashlar.root(`GET ${path()}`, { query: 'name=C' }), 200)).toEqual([]);
    const body = { image_url: 'http://example.com/y.svg', name: null };
    const changed = bodyOf(await ashlar.root(`PUT ${path()}/${made.id}`, { body }), 200);
    expect(changed).toEqual({ ...made, ...body, rendered_image_url: body.image_url });
    expect((await ashlar.root(`DELETE ${path()}/${made.id}`)).status).toBe(204);
    expect((await ashlar.root(`GET ${path()}/${made.id}`)).body).toEqual({ message: '404 Badge Not Found' });
    const { sql } = ashlar.app.services.database;
    const events = await sql`select event_name from audit_events where details ->> 'target_type' = 'Badge'
      and details ->> 'target_id' = ${String(made.id)} order by id`;
    expect(events.map(({ event_name }) => event_name)).toEqual([
      'badge_created',
      'badge_updated',
      'badge_deleted',
    ]);
  });

  test('is rendered without being kept', async () => {
    const query = new URLSearchParams({ ...urls, link_url: 'http://%{gitlab_server}/' }).toString();
    const { host } = new URL(ashlar.url);
    const before = bodyOf(await ashlar.root(`GET ${path()}`), 200);
    expect(bodyOf(await ashlar.root(`GET ${path()}/render`, { query }), 200)).toMatchObject({
      name: null,
      rendered_link_url: kind === 'project' ? `http://${host}/` : 'http://%{gitlab_server}/',
    });
    expect(bodyOf(await ashlar.root(`GET ${path()}`), 200)).toEqual(before);
  });

  test('is no code, and not endless', async () => {
    const { id } = await make(path());
    const message = { link_url: ['is blocked: Only allowed schemes are http, https'] };
    const body = { ...urls, link_url: 'javascript:alert(1)' };
    const query = new URLSearchParams(body).toString();
    for (const [request, options] of [
      [`POST ${path()}`, { body }],
      [`PUT ${path()}/${id}`, { body }],
      [`GET ${path()}/render`, { query }],
    ] as const)
      expect(bodyOf(await ashlar.root(request, options), 400)).toEqual({ message });
    const long = { ...urls, image_url: `https://example.com/${'x'.repeat(2048)}` };
    expect((await ashlar.root(`POST ${path()}`, { body: long })).status).toBe(400);
  });

  test('is shown to who sees it, and changed by Maintainers of projects and Owners of groups', async () => {
    const { id } = await make(path());
    const stranger = await makeUser(ashlar);
    const query = new URLSearchParams(urls).toString();
    const statuses = async (user: MadeUser) => {
      const found: number[] = [];
      // In turn: the last one deletes what the first one shows.
      for (const request of [
        `GET ${path()}/${id}`,
        `GET ${path()}/render`,
        `POST ${path()}`,
        `PUT ${path()}/${id}`,
        `DELETE ${path()}/${id}`,
      ])
        found.push((await ashlar.as(user.token)(request, { query })).status);
      return found;
    };
    expect(await statuses(stranger)).toEqual([404, 404, 404, 404, 404]);
    expect(await statuses(developer)).toEqual([200, 403, 403, 403, 403]);
    if (kind === 'group') expect(await statuses(maintainer)).toEqual([200, 403, 403, 403, 403]);
    else expect(await statuses(maintainer)).toEqual([200, 200, 201, 200, 204]);
  });
});

test("a project shows its groups' badges, which only the group changes; others' are not there", async () => {
  const [own, ours] = [await make(ofProject), await make(ofGroup)];
  const others = await make(`/projects/${(await makeProject(ashlar)).id}/badges`);
  const listed: { id: number; kind: string }[] = bodyOf(
    await ashlar.as(developer.token)(`GET ${ofProject}`, { query: 'per_page=100' }),
    200,
  );
  const kinds = new Map(listed.map(({ id, kind }) => [id, kind]));
  expect([own, ours, others].map(({ id }) => kinds.get(id))).toEqual(['project', 'group', undefined]);
  expect(bodyOf(await ashlar.root(`GET ${ofProject}/${ours.id}`), 200)).toMatchObject({
    rendered_link_url: `https://example.com/${project.path_with_namespace}`,
  });
  for (const id of [ours.id, others.id]) {
    expect((await ashlar.root(`PUT ${ofProject}/${id}`, { body: { name: 'x' } })).status).toBe(404);
    expect((await ashlar.root(`DELETE ${ofProject}/${id}`)).status).toBe(404);
  }
  expect((await ashlar.root(`GET ${ofGroup}/${own.id}`)).status).toBe(404);
});

describe('placeholders', () => {
  const link_url =
    'https://example.com/?%{project_title}/%{project_name}/%{project_id}/%{project_namespace}/%{group_name}';
  const image_url =
    'https://example.com/%{default_branch}/%{commit_sha}/%{latest_tag}/%{gitlab_pages_domain}';

  test('stand for the project, and for its code to who reads that', async () => {
    const place = await makeGroup(ashlar, { visibility: 'public' });
    const shown = await makeProject(ashlar, {
      namespace_id: place.id,
      name: 'A title',
      visibility: 'public',
      repository_access_level: 'private',
    });
    const sha = await fillProject(ashlar, shown.id);
    await askGit(ashlar, shown.id, ['tag', 'v1']);
    const path = `/projects/${shown.id}/badges`;
    const { id } = await make(path, { link_url, image_url });
    const rendered_link_url = `https://example.com/?A%20title/${shown.path_with_namespace.split('/')[1]}/${shown.id}/${place.full_path}/${place.full_path}`;
    expect(bodyOf(await ashlar.root(`GET ${path}/${id}`), 200)).toMatchObject({
      rendered_link_url,
      rendered_image_url: `https://example.com/main/${sha}/v1/%{gitlab_pages_domain}`,
    });
    expect(bodyOf(await ashlar.call(`GET ${path}/${id}`), 200)).toMatchObject({
      rendered_link_url,
      rendered_image_url: image_url,
    });
  });

  test('in a group stand for its first project, if the caller sees that', async () => {
    const place = await makeGroup(ashlar, { visibility: 'public' });
    const hidden = await makeProject(ashlar, { namespace_id: place.id });
    const path = `/groups/${place.id}/badges`;
    await make(path);
    const rendered = async (call = ashlar.root) =>
      bodyOf(await call(`GET ${path}`), 200)[0].rendered_link_url;
    expect(await rendered()).toBe(`https://example.com/${hidden.path_with_namespace}`);
    expect(await rendered(ashlar.call)).toBe(urls.link_url);
  });
});
