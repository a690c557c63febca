/** Projects and groups by ids, paths and old paths, and what refusals reveal. */
import { beforeAll, expect, test } from 'vitest';
import { type Call, useApp } from '../../../test/support/app.ts';
import {
  bodyOf,
  type MadeGroup,
  type MadeProject,
  makeGroup,
  makeProject,
  makeUser,
  uniqueName,
} from '../../../test/support/factories.ts';

const ashlar = useApp();
let group: MadeGroup;
let hidden: MadeProject;
let shown: MadeProject;
let stranger: Call;

beforeAll(async () => {
  group = await makeGroup(ashlar, { visibility: 'public' });
  hidden = await makeProject(ashlar, { namespace_id: group.id });
  shown = await makeProject(ashlar, { namespace_id: group.id, visibility: 'public' });
  stranger = ashlar.as((await makeUser(ashlar)).token);
});

const MISSING = 987_654_321;

test('who is not signed in is told so, whether there is anything or not', async () => {
  const secret = await makeGroup(ashlar, { visibility: 'private' });
  for (const place of [
    `projects/${hidden.id}`,
    `projects/${MISSING}`,
    'projects/not%2Fthere',
    `groups/${secret.id}`,
    `groups/${MISSING}`,
    'groups/not-there',
  ]) {
    expect([place, (await ashlar.call(`GET /${place}/audit_events`)).status]).toEqual([place, 401]);
    expect([place, (await ashlar.call(`GET /${place}`)).status]).toEqual([place, 404]);
    expect([place, (await stranger(`GET /${place}/audit_events`)).status]).toEqual([place, 404]);
  }
});

test('a path names a project below its namespace, and nothing less', async () => {
  const path = uniqueName('space');
  const space = await makeGroup(ashlar, { path, visibility: 'public' });
  const name = `${path}x`;
  const { id } = await makeProject(ashlar, { namespace_id: space.id, path: name, visibility: 'public' });
  expect(bodyOf(await stranger(`GET /projects/${path}%2F${name}`), 200).id).toBe(id);
  for (const reference of [name, `%2F${name}`, `${path}%2F`])
    expect([reference, (await stranger(`GET /projects/${reference}`)).status]).toEqual([reference, 404]);
});

test('an old path leads those on who see what is there, and tells others nothing', async () => {
  for (const [project, found] of [
    [shown, 301],
    [hidden, 404],
  ] as const) {
    const old = encodeURIComponent(project.path_with_namespace);
    bodyOf(await ashlar.root(`PUT /projects/${project.id}`, { body: { path: uniqueName('moved') } }), 200);
    expect((await stranger(`GET /projects/${old}`)).status).toBe(found);
    expect((await ashlar.call(`GET /projects/${old}`)).status).toBe(found);
    expect((await ashlar.root(`GET /projects/${old}`)).status).toBe(301);
    const starred = (await stranger(`POST /projects/${old}/star`)).status;
    expect(starred).toBe(found === 301 ? 405 : 404);
    // An id was never a path.
    expect((await stranger(`GET /projects/${MISSING}`)).status).toBe(404);
  }
});
