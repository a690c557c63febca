/** Distributions of projects and groups: made, changed, listed, deleted. */
import { beforeEach, expect, test } from 'vitest';
import { type TestApp, useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeMembers } from '../../../../test/support/factories.ts';
import { makeTeam, type Team } from '../../../../test/support/packages.ts';

const app: TestApp = useApp();
let team = {} as Team;

beforeEach(async () => {
  team = await makeTeam(app);
});

const places = () => [
  `projects/${team.project.id}/debian_distributions`,
  `groups/${team.group.id}/-/debian_distributions`,
];

const plain = {
  ...{ id: expect.any(Number), codename: 'sid', suite: null, origin: null, label: null, version: null },
  ...{ description: null, valid_time_duration_seconds: null, components: ['main'] },
  architectures: ['all', 'amd64'],
};

test('a distribution is made, changed, listed and deleted', async () => {
  for (const place of places()) {
    expect(bodyOf(await app.root(`POST /${place}`, { body: { codename: 'sid' } }), 201)).toEqual(plain);
    const fields = {
      ...{ suite: 'unstable', origin: 'Quarry', label: 'Stones', version: '1.0', description: 'Dark stones' },
      valid_time_duration_seconds: 604_800,
    };
    const sent = { ...fields, components: ['main', 'contrib', 'main'], architectures: ['arm64', 'amd64'] };
    const whole = {
      ...{ ...plain, ...fields, components: ['contrib', 'main'] },
      architectures: ['all', 'amd64', 'arm64'],
    };
    expect(bodyOf(await app.root(`PUT /${place}/sid`, { body: sent }), 200)).toEqual(whole);
    expect(bodyOf(await app.root(`GET /${place}/sid`), 200)).toEqual(whole);
    expect(bodyOf(await app.root(`PUT /${place}/sid`, { body: { suite: null } }), 200)).toEqual({
      ...whole,
      suite: null,
    });
    await app.root(`POST /${place}`, { body: { codename: 'trixie', suite: 'testing' } });
    const names = async (query: string) =>
      (bodyOf(await app.root(`GET /${place}${query}`), 200) as unknown as { codename: string }[]).map(
        ({ codename }) => codename,
      );
    expect(await names('')).toEqual(['sid', 'trixie']);
    expect(await names('?codename=sid')).toEqual(['sid']);
    expect(await names('?suite=testing')).toEqual(['trixie']);
    expect((await app.root(`GET /${place}/sid/key.asc`)).status).toBe(200);
    expect(await app.root(`DELETE /${place}/sid`)).toMatchObject({
      status: 202,
      body: { message: '202 Accepted' },
    });
    for (const request of ['GET', 'PUT', 'DELETE'])
      expect((await app.root(`${request} /${place}/sid`)).status).toBe(404);
    expect((await app.root(`GET /${place}/sid/key.asc`)).status).toBe(404);
  }
});

test('a name is there once, as codename or as suite', async () => {
  for (const place of places()) {
    await app.root(`POST /${place}`, { body: { codename: 'sid', suite: 'unstable' } });
    const refused = async (request: string, body: object, property: string) =>
      expect(await app.root(request, { body })).toMatchObject({
        status: 400,
        body: { message: { [property]: ['has already been taken'] } },
      });
    await refused(`POST /${place}`, { codename: 'sid' }, 'codename');
    await refused(`POST /${place}`, { codename: 'other', suite: 'unstable' }, 'suite');
    await refused(`POST /${place}`, { codename: 'unstable' }, 'codename');
    await refused(`POST /${place}`, { codename: 'other', suite: 'sid' }, 'suite');
    await app.root(`POST /${place}`, { body: { codename: 'other' } });
    await refused(`PUT /${place}/other`, { suite: 'sid' }, 'suite');
    await refused(`PUT /${place}/other`, { suite: 'unstable' }, 'suite');
  }
});

test.each([
  ['codename', 'Sid'],
  ['codename', '../sid'],
  ['codename', ''],
  ['codename', 'a'.repeat(65)],
  ['suite', 'un stable'],
  ['origin', 'a\nSHA256: b'],
  ['label', ' a'],
  ['description', 'a\u{85}b'],
  ['version', ''],
  ['description', 'a'.repeat(256)],
  ['valid_time_duration_seconds', 86_399],
  ['valid_time_duration_seconds', 1e9],
  ['components', []],
  ['components', ['../main']],
  ['components', Array.from({ length: 21 }, (_, at) => `c${at}`)],
  ['architectures', ['amd64 arm64']],
  ['architectures', Array.from({ length: 31 }, (_, at) => `a${at}`)],
])('%s is refused: %j', async (field, value) => {
  const body = { codename: 'sid', [field]: value };
  expect(await app.root(`POST /${places()[0]}`, { body })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining(field) },
  });
});

test('who makes and deletes them', async () => {
  const { project, group, maintainer, developer, reporter, guest } = team;
  const ofGroup = await makeMembers(app, `groups/${group.id}`, 'maintainer', 'developer', 'reporter');
  for (const [place, roles] of [
    [places()[0], { maintainer, developer, reporter }],
    [places()[1], ofGroup],
  ] as const) {
    const make = (token: string) => app.as(token)(`POST /${place}`, { body: { codename: 'sid' } });
    expect((await make(roles.reporter.token)).status).toBe(403);
    expect((await make(roles.developer.token)).status).toBe(201);
    expect((await app.as(roles.reporter.token)(`GET /${place}/sid`)).status).toBe(200);
    const change = { body: { label: 'a' } };
    expect((await app.as(roles.reporter.token)(`PUT /${place}/sid`, change)).status).toBe(403);
    expect((await app.as(roles.developer.token)(`PUT /${place}/sid`, change)).status).toBe(200);
    expect((await app.as(roles.developer.token)(`DELETE /${place}/sid`)).status).toBe(403);
    expect((await app.as(roles.maintainer.token)(`DELETE /${place}/sid`)).status).toBe(202);
  }
  expect((await app.as(guest.token)(`GET /projects/${project.id}/debian_distributions`)).status).toBe(403);
});
