/** The container registry as programs use it, and what an attacker would try. */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { ROOT_TOKEN, useApp } from '../../../test/support/app.ts';
import { isStored } from '../../../test/support/blobs.ts';
import {
  bodyOf,
  type MadeProject,
  type MadeUser,
  makeMembers,
  makeProject,
  makeUser,
} from '../../../test/support/factories.ts';
import {
  askToken,
  type Credentials,
  descriptorOf,
  IMAGE_INDEX,
  IMAGE_MANIFEST,
  imageOf,
  openRegistry,
  sha256Of,
} from '../../../test/support/registry.ts';
import { makeRunner, startPipeline } from '../../../test/support/runner.ts';
import { moveClock } from '../../platform/clock.ts';
import { sweepRegistry } from './sweep.ts';

const app = useApp();
let project: MadeProject;
let image: string;
let maintainer: MadeUser;
let developer: MadeUser;
let reporter: MadeUser;
let guest: MadeUser;

const by = (user: MadeUser): Credentials => ({ username: user.username, password: user.token });
const registry = (user?: MadeUser) => openRegistry(app, user && by(user));
const db = () => app.app.services.database.db;
const errorsOf = (text: string): string[] =>
  (JSON.parse(text) as { errors: { code: string }[] }).errors.map(({ code }) => code);

beforeEach(async () => {
  project = await makeProject(app, { visibility: 'private' });
  image = project.path_with_namespace.toLowerCase();
  ({ maintainer, developer, reporter, guest } = await makeMembers(
    app,
    `projects/${project.id}`,
    ...(['maintainer', 'developer', 'reporter', 'guest'] as const),
  ));
});

test('who comes without a token is told where to get one', async () => {
  const { send } = registry();
  const base = await send('GET ', { scope: [] });
  expect([base.status, errorsOf(base.text)]).toEqual([401, ['UNAUTHORIZED']]);
  expect(base.headers.get('docker-distribution-api-version')).toBe('registry/2.0');
  const realm = `Bearer realm="${app.url}/jwt/auth",service="container_registry"`;
  expect(base.headers.get('www-authenticate')).toBe(realm);
  const pushed = await send(`POST ${image}/blobs/uploads/`);
  expect(pushed.headers.get('www-authenticate')).toBe(
    `${realm},scope="repository:${image}:pull,push",error="insufficient_scope"`,
  );
  const wrong = await send('GET ', { scope: [], headers: { authorization: 'Bearer a.b.c' } });
  expect(wrong.headers.get('www-authenticate')).toBe(`${realm},error="invalid_token"`);
  expect((await registry(reporter).send('GET ')).text).toBe('{}');
});

test('a token has what its owner may do, and what its scopes allow', async () => {
  const scope = `repository:${image}/web:pull,push,delete`;
  const actions = async (credentials: Credentials) =>
    (await askToken(app, credentials, [scope])).access[0]?.actions;
  expect(await actions(by(guest))).toBeUndefined();
  expect(await actions(by(reporter))).toEqual(['pull']);
  expect(await actions(by(developer))).toEqual(['pull', 'push']);
  expect(await actions(by(maintainer))).toEqual(['pull', 'push', 'delete']);
  expect(await actions({ username: developer.username, password: 'correct horse battery staple' })).toEqual([
    'pull',
    'push',
  ]);
  expect(await actions(undefined)).toBeUndefined();
  const outsider = await makeUser(app);
  expect(await actions(by(outsider))).toBeUndefined();

  const personal = async (...scopes: string[]) => {
    const body = {
      name: 'registry',
      scopes,
      expires_at: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10),
    };
    const made = await app.root(`POST /users/${maintainer.id}/personal_access_tokens`, { body });
    return { username: 'any', password: bodyOf(made, 201).token as string };
  };
  expect(await actions(await personal('read_registry'))).toEqual(['pull']);
  expect(await actions(await personal('write_registry'))).toEqual(['push']);
  expect(await actions(await personal('read_registry', 'write_registry'))).toEqual(['pull', 'push']);
  const other = await askToken(app, await personal('read_api'), [scope]);
  expect([other.status, errorsOf(other.text)]).toEqual([403, ['DENIED']]);

  const deploy = async (...scopes: string[]) => {
    const made = await app.root(`POST /projects/${project.id}/deploy_tokens`, {
      body: { name: 'd', scopes },
    });
    const { username, token } = bodyOf(made, 201) as { username: string; token: string };
    return { username, password: token };
  };
  expect(await actions(await deploy('read_registry'))).toEqual(['pull']);
  expect(await actions(await deploy('read_registry', 'write_registry'))).toEqual(['pull', 'push']);
  const other_project = await makeProject(app, { visibility: 'private' });
  const elsewhere = `repository:${other_project.path_with_namespace}:pull,push`;
  expect((await askToken(app, await deploy('read_registry'), [elsewhere])).access).toEqual([]);
});

test('the token service refuses what it must', async () => {
  const scope = `repository:${image}:pull`;
  const wrong = await askToken(app, { username: 'x', password: 'glpat-wrong' }, [scope]);
  expect([wrong.status, errorsOf(wrong.text)]).toEqual([401, ['UNAUTHORIZED']]);
  expect((await askToken(app, undefined, [])).status).toBe(403);
  expect((await askToken(app, by(developer), [scope], 'other')).status).toBe(404);
  const login = await askToken(app, by(guest), []);
  expect([login.status, login.access]).toEqual([200, []]);
  expect(login.claims).toMatchObject({ aud: 'container_registry', sub: guest.username });
  expect(login.claims.exp - login.claims.iat).toBe(300);
  expect((await askToken(app, by(developer), ['registry:catalog:*'])).access).toEqual([]);
  // Tokens of applications are for the API.
  const form = new URLSearchParams({
    grant_type: 'password',
    username: developer.username,
    password: 'correct horse battery staple',
    scope: 'api',
  });
  const given = bodyOf(await app.call('POST /oauth/token', { raw: true, form: form.toString() }), 200);
  for (const username of ['oauth2', developer.username])
    expect((await askToken(app, { username, password: given.access_token }, [scope])).status).toBe(401);
});

test('a token is no other one: neither an API token nor one of another audience opens the registry', async () => {
  const raw = (token: string) =>
    fetch(`${app.url}/v2/`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status);
  const { token } = await askToken(app, by(developer), []);
  expect(await raw(token)).toBe(200);
  const [head, body, signature] = token.split('.');
  expect(await raw(developer.token)).toBe(401);
  expect(await raw(`${head}.${body}.${signature?.slice(0, -4)}AAAA`)).toBe(401);
  const none = Buffer.from('{"alg":"none","kid":"x"}').toString('base64url');
  expect(await raw(`${none}.${body}.`)).toBe(401);
  expect((await app.call('GET /user', { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
});

test('images of public projects are for everybody, as far as the setting says', async () => {
  await registry(developer).pushImage(image, 'latest', 'public layer');
  const get = async () => (await registry().send(`GET ${image}/manifests/latest`)).status;
  expect(await get()).toBe(401);
  const set = (body: object) => app.root(`PUT /projects/${project.id}`, { body });
  await set({ visibility: 'public' });
  expect(await get()).toBe(200);
  await set({ container_registry_access_level: 'private' });
  expect(await get()).toBe(401);
  await set({ container_registry_access_level: 'disabled' });
  expect((await askToken(app, by(developer), [`repository:${image}:pull,push`])).access).toEqual([]);
});

test('blobs are pushed whole, fetched, and served in ranges', async () => {
  const { send, pushBlob } = registry(developer);
  const digest = await pushBlob(image, 'granite');
  const at = `${image}/blobs/${digest}`;
  const whole = await registry(reporter).send(`GET ${at}`);
  expect([whole.status, whole.text]).toEqual([200, 'granite']);
  expect(whole.headers.get('docker-content-digest')).toBe(digest);
  expect(whole.headers.get('content-type')).toBe('application/octet-stream');
  const head = await send(`HEAD ${at}`);
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '7']);
  const part = await send(`GET ${at}`, { headers: { range: 'bytes=2-4' } });
  expect([part.status, part.text]).toEqual([206, 'ani']);
  expect((await send(`GET ${at}`, { headers: { range: 'bytes=9-' } })).status).toBe(416);
  const etag = whole.headers.get('etag') ?? '';
  expect((await send(`GET ${at}`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  const missing = await send(`GET ${image}/blobs/${sha256Of('none')}`);
  expect([missing.status, errorsOf(missing.text)]).toEqual([404, ['BLOB_UNKNOWN']]);
  const bad = await send(`GET ${image}/blobs/sha256:x`);
  expect([bad.status, errorsOf(bad.text)]).toEqual([400, ['DIGEST_INVALID']]);
  const empty = await pushBlob(image, '');
  expect((await send(`GET ${image}/blobs/${empty}`)).text).toBe('');
  const sha512 = `sha512:${createHash('sha512').update('granite').digest('hex')}`;
  expect((await send(`POST ${image}/blobs/uploads/?digest=${sha512}`, { body: 'granite' })).status).toBe(201);
  expect((await send(`GET ${image}/blobs/${sha512}`)).text).toBe('granite');
});

test('a blob with another digest than its own is never served', async () => {
  const { send } = registry(developer);
  const digest = sha256Of('right');
  const pushed = await send(`POST ${image}/blobs/uploads/?digest=${digest}`, { body: 'wrong' });
  expect([pushed.status, errorsOf(pushed.text)]).toEqual([400, ['DIGEST_INVALID']]);
  const upload = (await send(`POST ${image}/blobs/uploads/`)).headers.get('location') ?? '';
  await send(`PATCH ${upload}`, { body: 'wrong' });
  const ended = await send(`PUT ${upload}?digest=${digest}`);
  expect([ended.status, errorsOf(ended.text)]).toEqual([400, ['DIGEST_INVALID']]);
  expect((await send(`PUT ${upload}?digest=sha256:x`)).status).toBe(400);
  expect((await send(`DELETE ${upload}`)).status).toBe(204);
  expect((await send(`HEAD ${image}/blobs/${digest}`)).status).toBe(404);
});

test('a blob arrives by chunks, in their order', async () => {
  const { send } = registry(developer);
  const begun = await send(`POST ${image}/blobs/uploads/`);
  expect([begun.status, begun.headers.get('range')]).toEqual([202, '0-0']);
  const upload = begun.headers.get('location') ?? '';
  expect(upload).toContain(begun.headers.get('docker-upload-uuid'));
  const chunk = (body: string, range: string) =>
    send(`PATCH ${upload}`, { body, headers: { 'content-range': range } });
  expect((await chunk('late', '4-7')).status).toBe(416);
  const first = await chunk('gran', '0-3');
  expect([first.status, first.headers.get('range')]).toEqual([202, '0-3']);
  const again = await chunk('gran', '0-3');
  expect([again.status, again.headers.get('range')]).toEqual([416, '0-3']);
  const short = await chunk('ite', '4-9');
  expect([short.status, errorsOf(short.text)]).toEqual([400, ['SIZE_INVALID']]);
  const shown = await send(`GET ${upload}`);
  expect([shown.status, shown.headers.get('range')]).toEqual([204, '0-3']);
  expect((await chunk('it', '4-5')).headers.get('range')).toBe('0-5');
  const digest = sha256Of('granite');
  const ended = await send(`PUT ${upload}?digest=${digest}`, {
    body: 'e',
    headers: { 'content-range': '6-6' },
  });
  expect([ended.status, ended.headers.get('docker-content-digest')]).toEqual([201, digest]);
  expect((await send(`GET ${ended.headers.get('location')}`)).text).toBe('granite');
  expect((await send(`GET ${upload}`)).status).toBe(404);
  expect(drafts()).toEqual([]);
});

const drafts = () => readdirSync(join(app.app.services.config.data, 'blobs', 'drafts'));

test('an upload is cancelled by who began it, and another one cannot touch it', async () => {
  const { send } = registry(developer);
  const upload = (await send(`POST ${image}/blobs/uploads/`)).headers.get('location') ?? '';
  await send(`PATCH ${upload}`, { body: 'half' });
  expect((await registry(maintainer).send(`PATCH ${upload}`, { body: 'x' })).status).toBe(404);
  expect((await registry(maintainer).send(`DELETE ${upload}`)).status).toBe(404);
  expect((await send(`DELETE ${upload}`)).status).toBe(204);
  expect((await send(`GET ${upload}`)).status).toBe(404);
  expect(drafts()).toEqual([]);
});

test('chunks and ends at the same time are one blob', async () => {
  const { send } = registry(developer);
  const upload = (await send(`POST ${image}/blobs/uploads/`)).headers.get('location') ?? '';
  const chunks = await Promise.all(['a', 'a', 'a', 'a'].map((body) => send(`PATCH ${upload}`, { body })));
  const taken = chunks.filter(({ status }) => status === 202).length;
  expect(chunks.every(({ status }) => status === 202 || status === 416)).toBe(true);
  const content = 'a'.repeat(taken);
  const ends = await Promise.all(
    Array.from({ length: 4 }, () => send(`PUT ${upload}?digest=${sha256Of(content)}`)),
  );
  expect(ends.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(ends.filter(({ status }) => status === 404)).toHaveLength(3);
  expect((await send(`GET ${image}/blobs/${sha256Of(content)}`)).text).toBe(content);
  expect(drafts()).toEqual([]);
});

test('twenty pushes of one digest at once are one blob', async () => {
  const { pushBlob, send } = registry(developer);
  const images = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? image : `${image}/other`));
  const digests = await Promise.all(images.map((each) => pushBlob(each, 'the same')));
  expect(new Set(digests).size).toBe(1);
  for (const each of [image, `${image}/other`])
    expect((await send(`GET ${each}/blobs/${digests[0]}`)).text).toBe('the same');
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => registry(developer).pushImage(image, `t${index}`, 'the same')),
  );
  expect(JSON.parse((await send(`GET ${image}/tags/list`)).text).tags).toHaveLength(20);
});

test('an image is served below the project where it was pushed, and nowhere else', async () => {
  const digest = await registry(developer).pushBlob(image, 'secret layer');
  const own = await makeProject(app, { visibility: 'private' });
  const attacker = await makeUser(app);
  await app.root(`POST /projects/${own.id}/members`, { body: { user_id: attacker.id, access_level: 40 } });
  const other = own.path_with_namespace.toLowerCase();
  const thief = registry(attacker);
  expect((await thief.send(`GET ${image}/blobs/${digest}`)).status).toBe(401);
  await thief.pushBlob(other, 'own');
  expect((await thief.send(`GET ${other}/blobs/${digest}`)).status).toBe(404);
  const scope = [`repository:${other}:pull,push`, `repository:${image}:pull`];
  const mount = await thief.send(`POST ${other}/blobs/uploads/?mount=${digest}&from=${image}`, { scope });
  expect(mount.status).toBe(202);
  // Nor by a manifest that names it.
  const manifest = { ...imageOf([]), config: { ...descriptorOf('{}'), digest } };
  const put = await thief.putManifest(other, 'stolen', manifest);
  expect([put.status, errorsOf(put.text)]).toEqual([404, ['MANIFEST_BLOB_UNKNOWN']]);
  expect((await thief.send(`GET ${other}/blobs/${digest}`)).status).toBe(404);

  await app.root(`POST /projects/${project.id}/members`, {
    body: { user_id: attacker.id, access_level: 20 },
  });
  const reader = registry(attacker);
  const allowed = await reader.send(`POST ${other}/blobs/uploads/?mount=${digest}&from=${image}`, { scope });
  expect([allowed.status, allowed.headers.get('docker-content-digest')]).toEqual([201, digest]);
  expect((await reader.send(`GET ${other}/blobs/${digest}`)).text).toBe('secret layer');
});

test('manifests are put by tag and by digest, and are what they were', async () => {
  const client = registry(developer);
  const { send, putManifest, pushBlob, pushImage } = client;
  const missing = await putManifest(image, 'latest', imageOf(['nothing']));
  expect([missing.status, errorsOf(missing.text)]).toEqual([404, ['MANIFEST_BLOB_UNKNOWN']]);
  const digest = await pushImage(image, 'latest', 'layer');
  for (const reference of ['latest', digest]) {
    const got = await send(`GET ${image}/manifests/${reference}`);
    expect(got.text).toBe(JSON.stringify(imageOf(['layer'])));
    expect(got.headers.get('content-type')).toBe('application/vnd.oci.image.manifest.v1+json');
    expect(got.headers.get('docker-content-digest')).toBe(digest);
    const head = await send(`HEAD ${image}/manifests/${reference}`);
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([
      200,
      String(got.bytes.length),
      '',
    ]);
  }
  const other = await putManifest(image, sha256Of('other'), imageOf(['layer']));
  expect([other.status, errorsOf(other.text)]).toEqual([400, ['DIGEST_INVALID']]);
  const broken = await putManifest(image, 'x', '{');
  expect([broken.status, errorsOf(broken.text)]).toEqual([400, ['MANIFEST_INVALID']]);
  const large = await putManifest(image, 'x', `"${'x'.repeat(4 * 1_048_576)}"`);
  expect([large.status, errorsOf(large.text)]).toEqual([413, ['MANIFEST_INVALID']]);
  expect(errorsOf((await putManifest(image, '-x', '{}')).text)).toEqual(['TAG_INVALID']);
  expect((await send(`GET ${image}/manifests/none`)).status).toBe(404);
  // The same again, and another one for the tag.
  expect(await pushImage(image, 'latest', 'layer')).toBe(digest);
  const newer = await pushImage(image, 'latest', 'newer layer');
  expect((await send(`HEAD ${image}/manifests/latest`)).headers.get('docker-content-digest')).toBe(newer);
  await pushBlob(image, 'layer');
  const tagged = await putManifest(image, `${digest}?tag=a&tag=b`, imageOf(['layer']));
  expect([tagged.status, tagged.headers.get('oci-tag')]).toEqual([201, 'a, b']);
  const list = await send(`GET ${image}/tags/list`);
  expect(JSON.parse(list.text)).toEqual({ name: image, tags: ['a', 'b', 'latest'] });
});

test('an index keeps its manifests', async () => {
  const client = registry(maintainer);
  const { send, putManifest, pushImage } = client;
  const child = await pushImage(image, 'child', 'layer');
  const index = (digest: string) => ({
    schemaVersion: 2,
    mediaType: IMAGE_INDEX,
    manifests: [{ ...descriptorOf('x', 'application/vnd.oci.image.manifest.v1+json'), digest }],
  });
  const missing = await putManifest(image, 'index', index(sha256Of('none')), IMAGE_INDEX);
  expect([missing.status, errorsOf(missing.text)]).toEqual([404, ['MANIFEST_BLOB_UNKNOWN']]);
  expect((await putManifest(image, 'index', index(child), IMAGE_INDEX)).status).toBe(201);
  const refused = await send(`DELETE ${image}/manifests/${child}`);
  expect([refused.status, errorsOf(refused.text)]).toEqual([409, ['DENIED']]);
  expect((await send(`DELETE ${image}/manifests/${sha256Of(JSON.stringify(index(child)))}`)).status).toBe(
    202,
  );
  expect((await send(`GET ${image}/manifests/index`)).status).toBe(404);
  expect((await send(`DELETE ${image}/manifests/${child}`)).status).toBe(202);
  expect(JSON.parse((await send(`GET ${image}/tags/list`)).text).tags).toEqual([]);
});

test('a tag is deleted alone; deletions need a role', async () => {
  const digest = await registry(developer).pushImage(image, 'v1', 'layer');
  const refused = await registry(developer).send(`DELETE ${image}/manifests/v1`);
  expect(refused.headers.get('www-authenticate')).toContain(`scope="repository:${image}:delete"`);
  const { send } = registry(maintainer);
  expect((await send(`DELETE ${image}/manifests/v1`)).status).toBe(202);
  expect((await send(`DELETE ${image}/manifests/v1`)).status).toBe(404);
  expect((await send(`HEAD ${image}/manifests/${digest}`)).status).toBe(200);
  const blob = `${image}/blobs/${sha256Of('layer')}`;
  const needed = await send(`DELETE ${blob}`);
  expect([needed.status, errorsOf(needed.text)]).toEqual([405, ['UNSUPPORTED']]);
  expect((await send(`DELETE ${image}/manifests/${digest}`)).status).toBe(202);
  expect((await send(`DELETE ${blob}`)).status).toBe(202);
  expect((await send(`GET ${blob}`)).status).toBe(404);
});

test('tags are listed by pages', async () => {
  const { send, pushImage, putManifest } = registry(developer);
  await pushImage(image, 'b', 'layer');
  for (const tag of ['a', 'B', '_', 'c']) await putManifest(image, tag, imageOf(['layer']));
  const page = async (query: string) => {
    const { status, text, headers } = await send(`GET ${image}/tags/list?${query}`);
    return [status, status === 200 ? JSON.parse(text).tags : errorsOf(text), headers.get('link')];
  };
  expect(await page('')).toEqual([200, ['B', '_', 'a', 'b', 'c'], null]);
  expect(await page('n=2')).toEqual([200, ['B', '_'], `</v2/${image}/tags/list?n=2&last=_>; rel="next"`]);
  expect(await page('n=3&last=_')).toEqual([200, ['a', 'b', 'c'], null]);
  expect(await page('n=0')).toEqual([200, [], null]);
  expect(await page('n=x')).toEqual([400, ['PAGINATION_NUMBER_INVALID'], null]);
  expect((await send(`GET ${image}/none/tags/list`)).status).toBe(404);
});

test('referrers are listed, by their type', async () => {
  const client = registry(developer);
  const subject = await client.pushImage(image, 'latest', 'layer');
  const about = { ...descriptorOf(JSON.stringify(imageOf(['layer']))), digest: subject };
  await client.pushBlob(image, 'signature');
  const signature = imageOf(['signature'], {
    subject: about,
    artifactType: 'application/x-signature',
    annotations: { by: 'mason' },
  });
  const put = await client.putManifest(image, sha256Of(JSON.stringify(signature)), signature);
  expect([put.status, put.headers.get('oci-subject')]).toEqual([201, subject]);
  const bill = imageOf(['signature'], { subject: about });
  await client.putManifest(image, sha256Of(JSON.stringify(bill)), bill);
  const list = async (query = '') => {
    const reply = await client.send(`GET ${image}/referrers/${subject}${query}`);
    expect(reply.headers.get('content-type')).toBe(IMAGE_INDEX);
    return { reply, manifests: JSON.parse(reply.text).manifests };
  };
  expect((await list()).manifests).toEqual([
    expect.objectContaining({ artifactType: 'application/x-signature', annotations: { by: 'mason' } }),
    expect.objectContaining({ artifactType: 'application/vnd.oci.image.config.v1+json' }),
  ]);
  const { reply, manifests } = await list('?artifactType=application/x-signature');
  expect(manifests).toHaveLength(1);
  expect(reply.headers.get('oci-filters-applied')).toBe('artifactType');
  const none = await client.send(`GET ${image}/referrers/${sha256Of('none')}`);
  expect([none.status, JSON.parse(none.text).manifests]).toEqual([200, []]);
});

test('the list of all images is for administrators', async () => {
  await registry(developer).pushImage(`${image}/web`, 'latest', 'layer');
  const scope = 'registry:catalog:*';
  expect((await registry(maintainer).send('GET _catalog', { scope })).status).toBe(401);
  const { username } = bodyOf(await app.root('GET /user'), 200) as { username: string };
  const root = openRegistry(app, { username, password: ROOT_TOKEN });
  const all = await root.send('GET _catalog', { scope });
  expect(JSON.parse(all.text).repositories).toContain(`${image}/web`);
  const first = await root.send('GET _catalog?n=1', { scope });
  expect(first.headers.get('link')).toMatch(/^<\/v2\/_catalog\?n=1&last=.*>; rel="next"$/);
});

test('a client that goes in the middle leaves nothing that is served', async () => {
  const { send } = registry(developer);
  const digest = sha256Of('x'.repeat(1_000_000));
  const { token } = await askToken(app, by(developer), [`repository:${image}:pull,push`]);
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v2/${image}/blobs/uploads/?digest=${digest} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(500_000)}`,
  );
  await expect.poll(() => drafts().length).toBe(1);
  socket.destroy();
  await expect.poll(() => drafts().length).toBe(0);
  expect((await send(`HEAD ${image}/blobs/${digest}`)).status).toBe(404);
});

test('the sweep ends uploads and links that nothing needs, and no others', async () => {
  const client = registry(developer);
  const { send, pushBlob, pushImage } = client;
  await pushImage(image, 'latest', 'kept layer');
  const unneeded = await pushBlob(image, 'unneeded');
  const upload = (await send(`POST ${image}/blobs/uploads/`)).headers.get('location') ?? '';
  await send(`PATCH ${upload}`, { body: 'half' });
  const { services } = app.app;
  await sweepRegistry(services);
  expect((await send(`GET ${upload}`)).status).toBe(204);
  expect((await send(`HEAD ${image}/blobs/${unneeded}`)).status).toBe(200);
  const age = () =>
    Promise.all([
      sql`update container_blobs set linked_at = linked_at - interval '25 hours'`.execute(db()),
      sql`update container_uploads set created_at = created_at - interval '25 hours'`.execute(db()),
    ]);
  await age();
  // A program that finds the blob there counts on it.
  expect((await send(`HEAD ${image}/blobs/${unneeded}`)).status).toBe(200);
  await sweepRegistry(services);
  expect((await send(`GET ${upload}`)).status).toBe(404);
  expect(drafts()).toEqual([]);
  expect((await send(`HEAD ${image}/blobs/${unneeded}`)).status).toBe(200);
  await age();
  await Promise.all([
    sweepRegistry(services),
    registry(developer).pushImage(`${image}/new`, 'v1', 'new layer'),
  ]);
  expect((await send(`HEAD ${image}/blobs/${unneeded}`)).status).toBe(404);
  expect(await services.blobs.open(Buffer.from(unneeded.slice(7), 'hex'))).toBeUndefined();
  for (const [at, layer] of [
    [image, 'kept layer'],
    [`${image}/new`, 'new layer'],
  ])
    expect((await send(`GET ${at}/blobs/${sha256Of(layer ?? '')}`)).text).toBe(layer);
});

test('a manifest that nothing leads to goes when two sweeps a day apart found it so, and its layers with it', async () => {
  const { send, pushImage, putManifest } = registry(maintainer);
  const gone = await pushImage(image, 'gone', 'layer that goes');
  const listed = await pushImage(image, 'listed', 'layer of an index');
  const index = { schemaVersion: 2, manifests: [{ ...descriptorOf('x'), digest: listed }] };
  expect((await putManifest(image, 'index', index, IMAGE_INDEX)).status).toBe(201);
  const again = await pushImage(image, 'again', 'layer that comes again');
  const kept = await pushImage(image, 'kept', 'kept layer');
  const about = {
    schemaVersion: 2,
    config: descriptorOf('layer of an index'),
    layers: [],
    subject: { ...descriptorOf('x'), digest: kept },
  };
  const referrer = await putManifest(image, sha256Of(JSON.stringify(about)), about, IMAGE_MANIFEST);
  expect(referrer.status).toBe(201);
  for (const tag of ['gone', 'listed', 'again'])
    expect((await send(`DELETE ${image}/manifests/${tag}`)).status).toBe(202);
  const sweepAfter = async (days: number): Promise<void> => {
    const back = moveClock(days * 86_400_000);
    try {
      await sweepRegistry(services());
    } finally {
      back();
    }
  };
  const there = async (digest: string) => (await send(`HEAD ${image}/manifests/${digest}`)).status;
  await sweepRegistry(services());
  await sweepAfter(2);
  expect([await there(gone), await there(again)]).toEqual([200, 200]);
  await pushImage(image, 'again', 'layer that comes again');
  await sweepAfter(4);
  expect(await Promise.all([gone, listed, again, kept, sha256Of(JSON.stringify(about))].map(there))).toEqual([
    404, 200, 200, 200, 200,
  ]);
  expect(isStored(app, 'layer that goes')).toBe(false);
  expect((await send(`GET ${image}/blobs/${sha256Of('layer of an index')}`)).text).toBe('layer of an index');
});

test('images go with their project', async () => {
  const { send, pushImage, putManifest } = registry(developer);
  const digest = await pushImage(image, 'latest', 'layer of a deleted project');
  const index = { schemaVersion: 2, manifests: [{ ...descriptorOf('x'), digest }] };
  expect((await putManifest(image, 'index', index, IMAGE_INDEX)).status).toBe(201);
  await sql`delete from container_repositories where project_id = ${project.id}`.execute(db());
  expect((await send(`GET ${image}/manifests/latest`)).status).toBe(404);
  await services().blobs.sweep();
  const layer = Buffer.from(sha256Of('layer of a deleted project').slice(7), 'hex');
  expect(await services().blobs.open(layer)).toBeUndefined();
});

const services = () => app.app.services;

test('names that no image can have, addresses and methods that are not there', async () => {
  const { send } = registry(developer);
  const scope: string[] = [];
  const codes = async (line: string) => {
    const { status, text } = await send(line, { scope });
    return [status, ...errorsOf(text)];
  };
  expect(await codes('GET UPPER/case/manifests/latest')).toEqual([400, 'NAME_INVALID']);
  expect(await codes('GET alone/manifests/latest')).toEqual([400, 'NAME_INVALID']);
  expect(await codes('GET some/thing/else')).toEqual([404, 'UNSUPPORTED']);
  expect(await codes(`PATCH ${image}/tags/list`)).toEqual([405, 'UNSUPPORTED']);
});

test('a job pushes to its own project by its variables, and reads others that let it in', async () => {
  const home = await makeProject(app, { visibility: 'private' });
  for (const { id } of [home, project])
    await app.root(`POST /projects/${id}/members`, { body: { user_id: maintainer.id, access_level: 40 } });
  const runner = await makeRunner(app, home);
  await startPipeline(app, home, maintainer, 'build:\n  script: make');
  const job = await runner.take();
  const variable = (name: string) => job.variables.find(({ key }) => key === name)?.value ?? '';
  const credentials = { username: variable('CI_REGISTRY_USER'), password: variable('CI_REGISTRY_PASSWORD') };
  expect(variable('CI_REGISTRY')).toBe(new URL(app.url).host);
  const own = variable('CI_REGISTRY_IMAGE').slice(variable('CI_REGISTRY').length + 1);
  expect(own).toBe(home.path_with_namespace.toLowerCase());
  const granted = async (path: string) =>
    (await askToken(app, credentials, [`repository:${path}:pull,push,delete`])).access[0]?.actions;
  expect(await granted(own)).toEqual(['pull', 'push', 'delete']);
  expect(await granted(image)).toBeUndefined();
  const body = { target_project_id: home.id };
  bodyOf(await app.root(`POST /projects/${project.id}/job_token_scope/allowlist`, { body }), 201);
  expect(await granted(image)).toEqual(['pull', 'push']);
  await openRegistry(app, credentials).pushImage(own, 'latest', 'built');
  await runner.update(job, { state: 'success' });
  expect((await askToken(app, credentials, [`repository:${own}:pull`])).status).toBe(401);
});

test('an image is deleted while it is pushed again, and is there or not', async () => {
  const pusher = registry(developer);
  const remover = registry(maintainer);
  const digest = await pusher.pushImage(image, 'v1', 'contested');
  for (let round = 0; round < 5; round += 1) {
    const all = await Promise.all([
      ...Array.from({ length: 4 }, () => pusher.putManifest(image, 'v1', imageOf(['contested']))),
      ...Array.from({ length: 4 }, () => remover.send(`DELETE ${image}/manifests/${digest}`)),
    ]);
    expect(all.map(({ status }) => status).filter((status) => ![201, 202, 404].includes(status))).toEqual([]);
    const got = await pusher.send(`GET ${image}/manifests/${digest}`);
    if (got.status === 200) expect(got.text).toBe(JSON.stringify(imageOf(['contested'])));
    else expect(got.status).toBe(404);
  }
});
