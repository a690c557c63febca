/** Code owners of merge requests over HTTP: whose approval is asked, and that it stays so whatever changes around it. */
import { describe, expect, test } from 'vitest';
import { type Called, useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeUser,
  makeMembers,
  makeUser,
} from '../../../../test/support/factories.ts';
import { commitTo, makeReviewedProject, waitForFollowing } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' } });

const path = (id: number) => `/projects/${id}/merge_requests/1` as const;
const state = async (id: number) => bodyOf(await ashlar.root(`GET ${path(id)}/approval_state`), 200).rules;
const status = async (id: number) => bodyOf(await ashlar.root(`GET ${path(id)}`), 200).detailed_merge_status;
const listed = async (id: number) =>
  bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests`), 200)[0].detailed_merge_status;
const approve = (id: number, user: MadeUser): Promise<Called> =>
  ashlar.as(user.token)(`POST ${path(id)}/approve`);
const merge = (id: number) => ashlar.root(`PUT ${path(id)}/merge`);
/** Root pushes to the branch whatever it asks. */
const protect = async (id: number, asks: boolean) =>
  bodyOf(
    await ashlar.root(`PATCH /projects/${id}/protected_branches/main`, {
      body: { code_owner_approval_required: asks, allowed_to_push: [{ user_id: 1 }] },
    }),
    200,
  );
const names = (rules: { section: string | null; name: string }[]) =>
  rules.map(({ section, name }) => `${section}: ${name}`);
/** Usernames, by the rules' names. */
const approvers = async (id: number): Promise<Record<string, string[]>> =>
  Object.fromEntries(
    (await state(id)).map((rule: { name: string; eligible_approvers: { username: string }[] }) => [
      rule.name,
      rule.eligible_approvers.map(({ username }) => username),
    ]),
  );

type Files = Record<string, string | null>;

/** A project whose main has this file, and a merge request of root's that changes these. */
async function makeOwned(
  owners: (people: { developer: MadeUser; maintainer: MadeUser; reporter: MadeUser }) => Files,
  changed: Files = { 'code.rb': 'code\n', 'docs/a.md': 'text\n' },
  attributes: Record<string, unknown> = {},
) {
  const { id } = await makeReviewedProject(ashlar, attributes);
  const members = await makeMembers(ashlar, `projects/${id}`, 'reporter', 'developer', 'maintainer');
  await commitTo(ashlar, id, 'main', owners(members));
  await protect(id, true);
  await commitTo(ashlar, id, 'topic', changed);
  const body = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  bodyOf(await ashlar.root(`POST /projects/${id}/merge_requests`, { body }), 201);
  return { id, ...members };
}

describe('a change of owned files', () => {
  test('needs the approval of each section’s owners, and is merged then', async () => {
    const { id, developer, maintainer } = await makeOwned(({ developer, maintainer }) => ({
      CODEOWNERS: `*.rb @${developer.username}\n[Docs][2] @${maintainer.username} @${developer.username}\n/docs/\n^[Style]\n* @@maintainer\n`,
    }));
    expect(await state(id)).toMatchObject([
      {
        name: '*.rb',
        rule_type: 'code_owner',
        code_owner: true,
        section: 'codeowners',
        approvals_required: 1,
        eligible_approvers: [{ id: developer.id }],
        users: [{ id: developer.id }],
        approved: false,
        approved_by: [],
      },
      {
        name: '/docs/',
        section: 'Docs',
        approvals_required: 2,
        eligible_approvers: [{ id: developer.id }, { id: maintainer.id }],
      },
      {
        name: '*',
        section: 'Style',
        approvals_required: 0,
        eligible_approvers: [{ id: maintainer.id }],
        users: [],
        approved: true,
      },
    ]);
    const shown = bodyOf(await ashlar.root(`GET ${path(id)}/approvals`), 200);
    expect(shown).toMatchObject({ approved: false, approvals_required: 3, approvals_left: 3 });
    expect([await status(id), await listed(id)]).toEqual(['not_approved', 'not_approved']);
    expect((await merge(id)).status).toBe(405);
    expect(bodyOf(await approve(id, developer), 201)).toMatchObject({ approved: false, approvals_left: 1 });
    expect((await merge(id)).status).toBe(405);
    expect(bodyOf(await approve(id, maintainer), 201)).toMatchObject({ approved: true, approvals_left: 0 });
    expect((await state(id)).map((rule: Called['body']) => rule.approved_by.length)).toEqual([1, 2, 1]);
    expect([await status(id), await listed(id)]).toEqual(['mergeable', 'mergeable']);
    bodyOf(await merge(id), 200);
  });

  test('needs nothing where nobody owns what is changed, or the owners are nobody', async () => {
    const { id } = await makeOwned(() => ({
      CODEOWNERS: '*.py @root\n*.rb @nobody-there x@nowhere.example\n',
    }));
    expect(await state(id)).toMatchObject([{ name: '*.rb', approved: true, eligible_approvers: [] }]);
    expect(await status(id)).toBe('mergeable');
  });

  test('is shown and needs nothing where the branch is not protected so', async () => {
    const { id, developer } = await makeOwned(({ developer }) => ({
      CODEOWNERS: `* @${developer.username}\n`,
    }));
    expect(await status(id)).toBe('not_approved');
    await protect(id, false);
    expect(await state(id)).toMatchObject([
      { name: '*', approvals_required: 0, approved: true, eligible_approvers: [{ id: developer.id }] },
    ]);
    expect([await status(id), await listed(id)]).toEqual(['mergeable', 'mergeable']);
    await protect(id, true);
    expect(await status(id)).toBe('not_approved');
    bodyOf(await ashlar.root(`DELETE /projects/${id}/protected_branches/main`), 204);
    bodyOf(await merge(id), 200);
  });

  test.each([
    ['the root', { CODEOWNERS: '*.rb @root', 'docs/CODEOWNERS': '* @root' }, ['codeowners: *.rb']],
    ['docs', { 'docs/CODEOWNERS': '* @root', '.gitlab/CODEOWNERS': '*.rb @root' }, ['codeowners: *']],
    ['the last place', { '.gitlab/CODEOWNERS': '*.rb @root' }, ['codeowners: *.rb']],
    ['a folder of that name', { 'CODEOWNERS/x': 'x', 'docs/CODEOWNERS': '*.rb @root' }, ['codeowners: *.rb']],
    ['no place', { 'owners/CODEOWNERS': '* @root' }, []],
  ] as const)('goes by the file in %s', async (_, files, expected) => {
    const { id } = await makeOwned(() => files);
    expect(names(await state(id))).toEqual(expected);
  });

  test('goes by the file of the target branch: one’s own takes nobody out', async () => {
    const { id } = await makeOwned(({ developer }) => ({ CODEOWNERS: `* @${developer.username}\n` }), {
      CODEOWNERS: '',
      'a.txt': null,
    });
    expect(names(await state(id))).toEqual(['codeowners: *']);
    expect((await merge(id)).status).toBe(405);
  });

  test('is one of both names when a file is renamed', async () => {
    const { id } = await makeOwned(
      ({ developer }) => ({ CODEOWNERS: `/a.txt @${developer.username}\n/b/ @${developer.username}\n` }),
      { 'a.txt': null, 'b/a.txt': 'one\n' },
    );
    expect(names(await state(id))).toEqual(['codeowners: /a.txt', 'codeowners: /b/']);
  });
});

describe('owners are', () => {
  test('developers of the project, by name, address, group and role', async () => {
    const group = bodyOf(
      await ashlar.root('POST /groups', { body: { name: 'Above', path: `owners-${Date.now()}` } }),
      201,
    );
    const other = bodyOf(
      await ashlar.root('POST /groups', { body: { name: 'Other', path: `${group.path}-other` } }),
      201,
    );
    const inGroup = await makeUser(ashlar);
    const reportsInGroup = await makeUser(ashlar);
    const inOther = await makeUser(ashlar);
    await addMember(ashlar, `groups/${group.id}`, inGroup, 30);
    await addMember(ashlar, `groups/${group.id}`, reportsInGroup, 20);
    await addMember(ashlar, `groups/${other.id}`, inOther, 30);
    const stranger = await makeUser(ashlar);
    const { id, developer, maintainer } = await makeOwned(
      ({ developer, maintainer, reporter }) => ({
        CODEOWNERS: [
          `/1 @${developer.username.toUpperCase()} @${reporter.username} @${stranger.username}`,
          `/2 ${maintainer.username}@example.com ${reporter.username}@example.com`,
          `/3 @${group.full_path}`,
          `/4 @${other.full_path}`,
          '/5 @@developers',
          '/6 @@owner',
        ].join('\n'),
      }),
      Object.fromEntries([1, 2, 3, 4, 5, 6].map((name) => [`${name}`, 'x'])),
      { namespace_id: group.id },
    );
    const email = (user: MadeUser) =>
      ashlar.app.services.database.sql`select email from users where id = ${user.id}`;
    expect((await email(maintainer))[0]?.email).toBe(`${maintainer.username}@example.com`);
    expect(await approvers(id)).toEqual({
      '/1': [developer.username],
      '/2': [maintainer.username],
      '/3': ['root', inGroup.username].sort(),
      '/4': [],
      '/5': [developer.username],
      '/6': [],
    });
    const body = { group_id: other.id, group_access: 30 };
    bodyOf(await ashlar.root(`POST /projects/${id}/share`, { body }), 201);
    expect((await approvers(id))['/4']).toEqual(['root', inOther.username].sort());
    const rules = await state(id);
    expect(rules[3].groups).toMatchObject([{ id: other.id }]);
    expect(rules[0].users).toMatchObject([{ id: developer.id }]);
    bodyOf(await ashlar.root(`DELETE /projects/${id}/share/${other.id}`), 204);
    bodyOf(
      await ashlar.root(`POST /projects/${id}/share`, { body: { group_id: other.id, group_access: 20 } }),
      201,
    );
    expect((await approvers(id))['/4']).toEqual([]);
  });

  test('whoever they are by now: members come and go, and names change', async () => {
    const { id, developer, reporter } = await makeOwned(({ developer, reporter }) => ({
      CODEOWNERS: `* @${developer.username} @${reporter.username} @later-${developer.username}\n`,
    }));
    expect((await approvers(id))['*']).toEqual([developer.username]);
    bodyOf(await approve(id, developer), 201);
    expect(await status(id)).toBe('mergeable');
    const level = (user: MadeUser, access_level: number) =>
      ashlar.root(`PUT /projects/${id}/members/${user.id}`, { body: { access_level } });
    bodyOf(await level(reporter, 30), 200);
    bodyOf(await level(developer, 20), 200);
    expect((await approvers(id))['*']).toEqual([reporter.username]);
    expect(await status(id)).toBe('not_approved');
    expect((await merge(id)).status).toBe(405);
    bodyOf(await level(developer, 30), 200);
    bodyOf(
      await ashlar.root(`PUT /users/${developer.id}`, { body: { username: `x-${developer.username}` } }),
      200,
    );
    expect((await approvers(id))['*']).toEqual([reporter.username]);
    const later = { username: `later-${developer.username}` };
    bodyOf(await ashlar.root(`PUT /users/${developer.id}`, { body: later }), 200);
    expect((await approvers(id))['*']?.sort()).toEqual([later.username, reporter.username].sort());
    expect(await status(id)).toBe('mergeable');
  });

  test('not the author, and no committers where these do not approve', async () => {
    const { id, developer } = await makeOwned(({ developer }) => ({
      CODEOWNERS: `*.rb @root\n*.md @${developer.username}\n`,
    }));
    expect((await approve(id, developer)).status).toBe(201);
    // Whom nobody can stand in for has nothing to approve: the author is the only owner.
    expect(await status(id)).toBe('mergeable');
    expect((await state(id))[0].approved_by).toEqual([]);
  });
});

describe('rules are made anew', () => {
  test('for those that were open before there were any', async () => {
    const { id } = await makeOwned(({ developer }) => ({ CODEOWNERS: `* @${developer.username}\n` }));
    const { sql } = ashlar.app.services.database;
    await sql`delete from approval_rules where rule_type = 'code_owner'`;
    await sql`update merge_requests set code_owners_sha = null, judged_target_sha = null, merge_status = 'unchecked'
      where project_id = ${id}`;
    await sql`insert into outbox (fact, payload, created_at)
      values ('merge_requests_unjudged', ${JSON.stringify({ project_id: id, branch: 'main' })}::text::jsonb, now())`;
    await waitForFollowing(ashlar);
    expect(names(await state(id))).toEqual(['codeowners: *']);
    expect(await status(id)).toBe('not_approved');
  });

  test('when another file is in the target', async () => {
    const { id, developer, maintainer } = await makeOwned(({ developer }) => ({
      CODEOWNERS: `*.rb @${developer.username}\n*.md @${developer.username}\n`,
    }));
    const before = await state(id);
    await commitTo(ashlar, id, 'main', {
      CODEOWNERS: `*.rb @${developer.username}\n*.md @${maintainer.username}\n[New]\n* @root\n`,
    });
    await waitForFollowing(ashlar);
    const after = await state(id);
    expect(names(after)).toEqual(['codeowners: *.rb', 'codeowners: *.md', 'New: *']);
    // One that is as it was is the same.
    expect(after[0].id).toBe(before[0].id);
    expect(after[1].eligible_approvers).toMatchObject([{ id: maintainer.id }]);
    await commitTo(ashlar, id, 'main', { CODEOWNERS: null });
    await waitForFollowing(ashlar);
    expect(await state(id)).toEqual([]);
    expect(await status(id)).toBe('mergeable');
  });

  test('when more is pushed, when it is merged before that is known, and with another target', async () => {
    const { id, developer } = await makeOwned(({ developer }) => ({
      CODEOWNERS: `*.py @${developer.username}\n`,
    }));
    expect(await state(id)).toEqual([]);
    expect(await status(id)).toBe('mergeable');
    await commitTo(ashlar, id, 'topic', { 'a.py': 'py\n' });
    expect((await merge(id)).status).toBe(405);
    expect(names(await state(id))).toEqual(['codeowners: *.py']);
    await waitForFollowing(ashlar);
    await commitTo(ashlar, id, 'main', { CODEOWNERS: `*.rb @${developer.username}\n` });
    expect((await merge(id)).status).toBe(405);
    expect(names(await state(id))).toEqual(['codeowners: *.rb']);
    await commitTo(ashlar, id, 'other', { CODEOWNERS: '*.md @root\n' });
    bodyOf(await ashlar.root(`PUT ${path(id)}`, { body: { target_branch: 'other' } }), 200);
    expect(names(await state(id))).toEqual(['codeowners: *.md']);
    bodyOf(await ashlar.root(`PUT ${path(id)}`, { body: { state_event: 'close' } }), 200);
    await commitTo(ashlar, id, 'other', { CODEOWNERS: '*.rb @root\n' });
    bodyOf(await ashlar.root(`PUT ${path(id)}`, { body: { state_event: 'reopen' } }), 200);
    expect(names(await state(id))).toEqual(['codeowners: *.rb']);
  });
});

test('they are no rules of the merge request’s own: nobody changes them, and the project’s hold beside them', async () => {
  const { id } = await makeOwned(({ developer }) => ({
    CODEOWNERS: `* @${developer.username}\n`,
  }));
  const body = { name: 'Own', approvals_required: 0 };
  bodyOf(await ashlar.root(`POST /projects/${id}/approval_rules`, { body }), 201);
  const [owners, own] = await state(id);
  const shown = bodyOf(await ashlar.root(`GET ${path(id)}/approval_state`), 200);
  expect(shown.approval_rules_overwritten).toBe(false);
  expect([owners.name, own.name].sort()).toEqual(['*', 'Own']);
  const rule = [owners, own].find((each) => each.code_owner).id;
  const [inList] = bodyOf(await ashlar.root(`GET ${path(id)}/approval_rules`), 200);
  expect(inList).toMatchObject({
    id: rule,
    section: 'codeowners',
    rule_type: 'code_owner',
    overridden: false,
  });
  expect((await ashlar.root(`PUT ${path(id)}/approval_rules/${rule}`, { body })).status).toBe(403);
  expect((await ashlar.root(`DELETE ${path(id)}/approval_rules/${rule}`)).status).toBe(403);
  bodyOf(await ashlar.root(`POST ${path(id)}/approval_rules`, { body }), 201);
  const replaced = bodyOf(await ashlar.root(`GET ${path(id)}/approval_state`), 200);
  expect(replaced.approval_rules_overwritten).toBe(true);
  expect(names(replaced.rules).sort()).toEqual(['codeowners: *', 'null: Own']);
  expect(await status(id)).toBe('not_approved');
});

test('a lower tier asks nobody, and a higher one asks as if it had been so always', async () => {
  const { config } = ashlar.app.services;
  const { tier } = config;
  Object.assign(config, { tier: 'free' });
  try {
    const { id } = await makeOwned(({ developer }) => ({ CODEOWNERS: `* @${developer.username}\n` }));
    expect([await status(id), await listed(id)]).toEqual(['mergeable', 'mergeable']);
    expect((await ashlar.root(`GET ${path(id)}/approval_state`)).status).toBe(403);
    Object.assign(config, { tier });
    await protect(id, true);
    expect([await status(id), await listed(id)]).toEqual(['not_approved', 'not_approved']);
    expect((await merge(id)).status).toBe(405);
    Object.assign(config, { tier: 'free' });
    bodyOf(await merge(id), 200);
  } finally {
    Object.assign(config, { tier });
  }
});

describe('what is too much to tell is closed until the file is another', () => {
  test.each([
    ['a long file', `${'# a comment\n'.repeat(30_000)}* @root\n`],
    ['too many entries', Array.from({ length: 500 }, (_, at) => `[${at}]\n* @root`).join('\n')],
    [
      'patterns that take too long',
      Array.from({ length: 60 }, (_, at) => `*${'a'.repeat(120)}b${at}`).join('\n'),
    ],
  ])('%s', async (_, file) => {
    const { id, developer } = await makeOwned(() => ({ 'docs/CODEOWNERS': file }), {
      ['a'.repeat(250)]: 'x',
    });
    bodyOf(await approve(id, developer), 201);
    expect(await state(id)).toMatchObject([
      {
        name: 'docs/CODEOWNERS',
        section: null,
        approved: false,
        eligible_approvers: [],
        approvals_required: 1,
      },
    ]);
    expect(await status(id)).toBe('not_approved');
    expect((await merge(id)).status).toBe(405);
    await protect(id, false);
    expect(await status(id)).toBe('mergeable');
    await protect(id, true);
    await commitTo(ashlar, id, 'main', { 'docs/CODEOWNERS': '' });
    await waitForFollowing(ashlar);
    expect(await status(id)).toBe('mergeable');
  });

  test('no text of a file is one that cannot be stored', async () => {
    const { id } = await makeOwned(() => ({ 'a.rb': '' }));
    const file = '[\0]\n*\0*.rb @root\n*\\ud83d @root\n[c\0]* @root\n';
    const actions = [
      { action: 'create', file_path: 'CODEOWNERS', encoding: 'base64', content: btoa(`${file}\xff* @root`) },
    ];
    const body = { branch: 'main', commit_message: 'Owners', actions };
    bodyOf(await ashlar.root(`POST /projects/${id}/repository/commits`, { body }), 201);
    await waitForFollowing(ashlar);
    expect((await state(id)).length).toBe(1);
  });
});
