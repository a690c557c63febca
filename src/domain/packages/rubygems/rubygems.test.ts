/** Gems of a project as programs publish them, read its indexes and fetch them. */
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf } from '../../../../test/support/factories.ts';
import {
  basic,
  type Headers,
  makeTeam,
  openToAll,
  own,
  type Team,
} from '../../../../test/support/packages.ts';
import { tarFile } from '../../../../test/support/tar.ts';

const app: TestApp = useApp();
let { group, project, maintainer, developer, reporter, guest } = {} as Team;

beforeEach(async () => {
  ({ group, project, maintainer, developer, reporter, guest } = await makeTeam(app));
});

const root = () => `${app.url}/api/v4/projects/${project.id}/packages/rubygems`;

/** The archive with this file in it: a text is packed. */
function described(metadata: string | Buffer, name = 'metadata.gz'): Buffer {
  const content = typeof metadata === 'string' ? gzipSync(metadata) : metadata;
  // The support's tar files are of texts, and this is none.
  const archive = tarFile({ name, content: 'a'.repeat(content.length) });
  content.copy(archive, 512);
  return archive;
}

const gem = (version: string, name = 'stone', more = ''): Buffer =>
  described(`--- !ruby/object:Gem::Specification
name: ${name}
version: !ruby/object:Gem::Version
  version: '${version}'
platform: ruby
${more}`);

async function publish(content: Buffer, headers: Headers = { authorization: developer.token }) {
  const response = await fetch(`${root()}/api/v1/gems`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body: new Uint8Array(content),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}
async function get(path: string, headers: Headers = { authorization: reporter.token }) {
  const response = await fetch(`${root()}/${path}`, { headers });
  const content = Buffer.from(await response.arrayBuffer());
  return { status: response.status, text: content.toString(), content, etag: response.headers.get('etag') };
}

test('a gem is published, in every index, and fetched', async () => {
  const content = gem('1.0');
  expect(await publish(content)).toEqual({ status: 201, body: { message: '201 Created' } });
  await publish(gem('1.1'));
  await publish(gem('2.0.rc1'));
  await publish(gem('0.1', 'slate'));
  expect(await get('')).toMatchObject({ status: 200, text: '' });
  expect((await get('names')).text).toBe('---\nslate\nstone\n');
  expect((await get('versions')).text).toMatch(/\nslate 0.1 \w{32}\nstone 1.0,1.1,2.0.rc1 \w{32}\n$/);
  expect((await get('info/stone')).text).toMatch(/^---\n1.0 \|checksum:\w{64}\n1.1 /);
  expect((await get('info/other')).status).toBe(404);
  expect(gunzipSync((await get('specs.4.8.gz')).content).toString('latin1')).toContain('slate');
  expect(gunzipSync((await get('latest_specs.4.8.gz')).content).toString('latin1')).not.toContain('1.0');
  expect(gunzipSync((await get('prerelease_specs.4.8.gz')).content).toString('latin1')).toContain('2.0.rc1');
  const spec = inflateSync((await get('quick/Marshal.4.8/stone-1.0.gemspec.rz')).content);
  expect(spec.toString('latin1')).toContain('Gem::Specification');
  expect((await get('quick/Marshal.4.8/stone-9.gemspec.rz')).status).toBe(404);
  expect((await get('quick/Marshal.4.8/stone-1.0.gem')).status).toBe(404);
  expect((await get('api/v1/dependencies?gems=stone,other')).content.toString('latin1')).toContain('1.1');
  expect((await get('api/v1/dependencies')).content.toString('latin1')).toBe('\x04\x08[\x00');
  expect((await get(`api/v1/dependencies?gems=${'a,'.repeat(201)}`)).status).toBe(400);
  expect((await get('gems/stone-1.0.gem')).content).toEqual(content);
  expect((await get('gems/..%2Fstone-1.0.gem')).status).toBe(404);
  const listed = bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200);
  expect(listed).toMatchObject([
    { name: 'stone', version: '1.0', package_type: 'rubygems', last_downloaded_at: expect.any(String) },
    { version: '1.1' },
    { version: '2.0.rc1' },
    { name: 'slate' },
  ]);
});

test('a version that comes again takes the place of the one before', async () => {
  await publish(gem('1.0', 'stone', 'summary: old\n'));
  const newer = gem('1.0', 'stone', 'summary: new\n');
  await publish(newer);
  expect((await get('gems/stone-1.0.gem')).content).toEqual(newer);
  const spec = inflateSync((await get('quick/Marshal.4.8/stone-1.0.gemspec.rz')).content);
  expect(spec.toString('latin1')).toContain('new');
  expect((await get('versions')).text).toMatch(/\nstone 1.0 \w{32}\n$/);
});

test('the tag of an index is its digest', async () => {
  await publish(gem('1.0'));
  const { content, etag } = await get('versions');
  const digest = `"${createHash('md5').update(content).digest('hex')}"`;
  expect(etag).toBe(`W/${digest}`);
  const again = { authorization: reporter.token, 'if-none-match': digest };
  expect((await get('versions', again)).status).toBe(304);
});

test('the file of another gem is not replaced', async () => {
  const content = gem('1.0', 'stone-2');
  await publish(content);
  expect(await publish(gem('2-1.0'))).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('another gem') },
  });
  expect((await get('gems/stone-2-1.0.gem')).content).toEqual(content);
});

test('what is no gem is told, and not kept', async () => {
  const problem = async (content: Buffer) => {
    const { status, body } = await publish(content);
    expect(status).toBe(400);
    return body.message;
  };
  expect(await problem(Buffer.from('granite '.repeat(100)))).toContain('gem is not a tar file');
  expect(await problem(Buffer.alloc(0))).toContain('gem is not a tar file');
  expect(await problem(described('x', 'other'))).toContain('gem has no metadata.gz');
  expect(await problem(described(Buffer.from('x')))).toContain('not packed by gzip');
  expect(await problem(described('x'.repeat(5_000_000)))).toContain('too large when it is unpacked');
  expect(await problem(described(Buffer.alloc(1_048_577)))).toContain('metadata.gz is too large');
  expect(await problem(gem('1.0', '../stone'))).toContain('name is invalid');
  expect(await problem(gem('1.0/..'))).toContain('version is invalid');
  const listed = bodyOf(await app.as(reporter.token)(`GET /projects/${project.id}/packages`), 200);
  expect(listed).toEqual([]);
});

test('who fetches and publishes', async () => {
  await publish(gem('1.0'));
  const made = await app.as(maintainer.token)(`POST /projects/${project.id}/deploy_tokens`, {
    body: { name: 'd', scopes: ['read_package_registry'] },
  });
  const deploy = bodyOf(made, 201) as unknown as { username: string; token: string };
  const paths = ['versions', 'specs.4.8.gz', 'gems/stone-1.0.gem', 'quick/Marshal.4.8/stone-1.0.gemspec.rz'];
  for (const path of paths) {
    expect((await get(path, { authorization: deploy.token })).status).toBe(200);
    expect((await get(path, basic('x', reporter.token))).status).toBe(200);
    expect((await get(path, {})).status).toBe(401);
    expect((await get(path, own(guest))).status).toBe(403);
  }
  for (const [headers, status] of [
    [{}, 401],
    [{ authorization: reporter.token }, 403],
    [{ authorization: deploy.token }, 403],
  ] as const)
    expect((await publish(gem('1.1'), headers)).status).toBe(status);
  await openToAll(app, { group, project });
  for (const path of paths) expect((await get(path, {})).status).toBe(200);
});

test('of two gems whose files have one name, one is published, also at once', async () => {
  // `a-1` of 2 and `a` of 1-2 are both in `a-1-2.gem`: the platform is behind the version.
  const ofPlatform = described(`--- !ruby/object:Gem::Specification
name: a
version: !ruby/object:Gem::Version
  version: '1'
platform: '2'
`);
  for (let time = 0; time < 5; time += 1) {
    const sent = await Promise.all([publish(gem('2', 'a-1')), publish(ofPlatform)]);
    expect(sent.map(({ status }) => status).sort()).toEqual([201, 400]);
    const rows = bodyOf(
      await app.as(maintainer.token)(`GET /projects/${project.id}/packages`),
      200,
    ) as unknown as {
      id: number;
    }[];
    expect(rows).toHaveLength(1);
    await app.as(maintainer.token)(`DELETE /projects/${project.id}/packages/${rows[0]?.id}`);
  }
});
