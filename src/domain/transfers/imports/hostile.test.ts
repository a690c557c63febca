/** Archives that somebody made to do harm: refused in words as a whole, or line by line, and nothing is half visible. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeUser, makeUser, uniqueName } from '../../../../test/support/factories.ts';
import { makeReviewedProject } from '../../../../test/support/merge-requests.ts';
import { type TarEntry, tarEntries, tarFile } from '../../../../test/support/tar.ts';
import { archiveOf, importOver, lines, sendArchive } from '../../../../test/support/transfers.ts';

const ashlar = useApp();

afterEach(async () => {
  await ashlar.root('PUT /application/settings', { body: { max_decompressed_archive_size: 25_600 } });
});

async function importing(archive: Buffer, user?: MadeUser, fields: Record<string, string> = {}) {
  const importer = user ?? (await makeUser(ashlar));
  const path = uniqueName('imported');
  const sent = await sendArchive(ashlar, '/projects/import', archive, { path, ...fields }, importer.token);
  expect([sent.status, sent.text]).toEqual([201, expect.any(String)]);
  const status = await importOver(ashlar, sent.body.id, importer.token);
  return { id: sent.body.id as number, status, importer };
}

const entry = (name: string, more: Partial<TarEntry> = {}): TarEntry => ({ name, content: 'x', ...more });
const whole = archiveOf();

describe('an archive is refused', () => {
  test.each<[what: string, archive: Buffer, error: RegExp]>([
    ['that is empty', Buffer.from(' '), /no whole gzip file/],
    ['that is cut off', whole.subarray(0, whole.length - 20), /no whole gzip file|not a tar file/],
    ['that is no tar file', gzipSync(Buffer.alloc(2_048, 'a')), /not a tar file/],
    [
      'with a tar file that is cut off',
      gzipSync(tarEntries(entry('VERSION', { size: '00000077777' }))),
      /not a tar file/,
    ],
    ['with a symbolic link', archiveOf(entry('uploads/link', { type: '2', content: '' })), /has a link/],
    [
      'with a hard link',
      archiveOf(entry('tree/project/issues.ndjson', { type: '1', content: '' })),
      /has a link/,
    ],
    ['with a device', archiveOf(entry('uploads/null', { type: '3', content: '' })), /no file/],
    ['with a way out', archiveOf(entry('uploads/../../../etc/passwd')), /outside of it/],
    ['with a way out at its beginning', archiveOf(entry('../project.json')), /outside of it/],
    ['with a way from the root', archiveOf(entry('/etc/passwd')), /outside of it/],
    ['with a way of another system', archiveOf(entry('uploads\\..\\x')), /outside of it/],
    ['with a line end in a name', archiveOf(entry('uploads/a\nb')), /outside of it/],
    [
      'with two entries of one name',
      archiveOf(entry('project.bundle'), entry('./project.bundle')),
      /two entries/,
    ],
    [
      'without a version',
      gzipSync(tarFile(entry('tree/project.json', { content: '{}' }))),
      /no file VERSION/,
    ],
    ['of a later version', gzipSync(tarFile(entry('VERSION', { content: '0.3.0' }))), /version mismatch/],
    ['without a project', gzipSync(tarFile(entry('VERSION', { content: '0.2.4' }))), /no tree\/project.json/],
    [
      'whose project is no JSON',
      gzipSync(tarFile(entry('VERSION', { content: '0.2.4' }), entry('tree/project.json'))),
      /no JSON/,
    ],
    [
      'whose project is a list',
      gzipSync(
        tarFile(entry('VERSION', { content: '0.2.4' }), entry('tree/project.json', { content: '[]' })),
      ),
      /no JSON object/,
    ],
    ['whose bundle is none', archiveOf(entry('project.bundle')), /not a bundle of git/],
    [
      'whose bundle is broken',
      archiveOf(entry('project.bundle', { content: '# v2 git bundle\nnothing' })),
      /repository could not be read/,
    ],
    [
      'whose bundle needs commits',
      archiveOf(
        entry('project.bundle', {
          content: `# v2 git bundle\n-${'1'.repeat(40)} x\n${'2'.repeat(40)} refs/heads/main\n\nPACK`,
        }),
      ),
      /repository could not be read/,
    ],
  ])('%s', async (_what, archive, error) => {
    const withIssue = archive;
    const { id, status, importer } = await importing(withIssue);
    expect(status).toMatchObject({ import_status: 'failed', import_error: expect.stringMatching(error) });
    expect(bodyOf(await ashlar.as(importer.token)(`GET /projects/${id}`), 200).empty_repo).toBe(true);
  });

  test('that is larger than may be when it is unpacked', async () => {
    bodyOf(
      await ashlar.root('PUT /application/settings', { body: { max_decompressed_archive_size: 1 } }),
      200,
    );
    const bomb = archiveOf(
      entry('uploads/00000000000000000000000000000000/a', { content: '0'.repeat(4 * 1_048_576) }),
    );
    expect(bomb.length).toBeLessThan(20_000);
    const { status } = await importing(bomb);
    expect(status).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringMatching(/too large/),
    });
  });

  test('whose repository and large files are larger than the limit', async () => {
    const limit = (repository_size_limit: number) =>
      ashlar.root('PUT /application/settings', { body: { repository_size_limit } });
    bodyOf(await limit(1), 200);
    const large = entry(`lfs-objects/${'0'.repeat(64)}`, { content: '0'.repeat(1_048_577) });
    const { status } = await importing(archiveOf(large));
    expect(status).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringMatching(/exceed the size limit of 1 MiB/),
    });
    bodyOf(await limit(0), 200);
  });

  test('whose bundle is a name of another repository', async () => {
    const { id } = await makeReviewedProject(ashlar);
    const { repositories, database } = ashlar.app.services;
    const [row] = await database.sql<
      { repository_storage: string }[]
    >`select repository_storage from projects where id = ${id}`;
    const { folder } = repositories.open({ kind: 'project', id, wiki: false }, row?.repository_storage ?? '');
    const { status, id: made } = await importing(
      archiveOf(entry('project.bundle', { content: `gitdir: ${folder}\n` })),
    );
    expect(status.import_status).toBe('failed');
    expect(bodyOf(await ashlar.root(`GET /projects/${made}`), 200).empty_repo).toBe(true);
  });

  test('and nothing of it is visible where a later part is wrong', async () => {
    const archive = archiveOf(
      lines('issues', { iid: 1, title: 'There', author_id: 1 }),
      entry('project.bundle'),
    );
    const { id, importer } = await importing(archive);
    expect(bodyOf(await ashlar.as(importer.token)(`GET /projects/${id}/issues`), 200)).toEqual([]);
  });
});

const issue = (more: Record<string, unknown>) => ({
  iid: 1,
  title: 'One',
  author_id: 1,
  created_at: '2026-01-01T00:00:00Z',
  ...more,
});

test.each<[what: string, entry: TarEntry, relation: string, message: RegExp, kept: number]>([
  ['no JSON', lines('issues', '{"iid": 1', issue({ iid: 2 })), 'issues', /no JSON/, 1],
  ['a list', lines('issues', '[]', issue({ iid: 2 })), 'issues', /no object/, 1],
  [
    'an iid of zero',
    lines('issues', issue({ iid: 0 }), issue({ iid: 2 })),
    'issues',
    /iid is no whole number/,
    1,
  ],
  [
    'an iid that is too large',
    lines('issues', issue({ iid: 2 ** 40 })),
    'issues',
    /iid is no whole number/,
    0,
  ],
  [
    'an iid after which there is none',
    lines('issues', issue({ iid: 2 ** 31 - 1 })),
    'issues',
    /iid is no/,
    0,
  ],
  [
    'an iid that is no number',
    lines('issues', issue({ iid: '1; drop table issues' })),
    'issues',
    /iid is no whole number/,
    0,
  ],
  ['an iid twice', lines('issues', issue({}), issue({ title: 'Again' })), 'issues', /already been taken/, 1],
  ['no title', lines('issues', issue({ title: ' ' })), 'issues', /title is invalid/, 0],
  ['a title with NUL', lines('issues', issue({ title: 'a\u0000b' })), 'issues', /cannot be stored/, 0],
  [
    'a title that is half a character',
    lines('issues', issue({ title: 'a\ud800b' })),
    'issues',
    /cannot be stored/,
    0,
  ],
  ['a title that is an object', lines('issues', issue({ title: {} })), 'issues', /title is no text/, 0],
  ['a long title', lines('issues', issue({ title: 'a'.repeat(256) })), 'issues', /too long/, 0],
  [
    'a time to come',
    lines('issues', issue({ created_at: '2999-01-01T00:00:00Z' })),
    'issues',
    /in the future/,
    0,
  ],
  ['no time', lines('issues', issue({ created_at: 'yesterday' })), 'issues', /created_at is no time/, 0],
  [
    'a branch with a line end',
    lines('merge_requests', {
      iid: 1,
      title: 'M',
      author_id: 1,
      source_branch: 'a\nb',
      target_branch: 'main',
    }),
    'merge_requests',
    /source_branch is no name/,
    0,
  ],
  [
    'a branch like an option',
    lines('ci_pipelines', { iid: 1, sha: '1'.repeat(40), ref: '--upload-pack=x', status: 'success' }),
    'ci_pipelines',
    /ref is no name/,
    0,
  ],
  ['no date', lines('issues', issue({ due_date: '2026-02-31' })), 'issues', /due_date is no date/, 1],
  ['a state that is none', lines('issues', issue({ state: 'merged' })), 'issues', /state is none of/, 0],
  ['a weight below zero', lines('issues', issue({ weight: -1 })), 'issues', /weight/, 1],
  ['notes that are a text', lines('issues', issue({ notes: 'all' })), 'notes', /no list of records/, 1],
  [
    'a note without text',
    lines('issues', issue({ notes: [{ author_id: 1 }] })),
    'notes',
    /note is missing/,
    1,
  ],
  [
    'a position that is none',
    lines('issues', issue({ notes: [{ author_id: 1, note: 'x', position: { base_sha: '--upload-pack' } }] })),
    'notes',
    /position is no position/,
    1,
  ],
  [
    'a label without a title',
    lines('issues', issue({ label_links: [{ label: {} }] })),
    'label_links',
    /no title/,
    1,
  ],
  [
    'a label of a colour that is none',
    lines('labels', { title: 'x', color: 'red;x:y' }),
    'labels',
    /color is invalid/,
    0,
  ],
  [
    'a badge that runs something',
    lines('project_badges', { link_url: 'javascript:alert(1)', image_url: 'https://x.example/a' }),
    'project_badges',
    /link_url is invalid/,
    0,
  ],
  [
    'a link of issues that are elsewhere',
    lines('issue_links', { source: { iid: 1 }, target: { iid: 2 }, link_type: 'blocks' }),
    'issue_links',
    /not in the archive/,
    0,
  ],
  [
    'a role that is none',
    lines('protected_branches', { name: 'x', push_access_levels: [{ access_level: 41 }] }),
    'protected_branches',
    /refused/,
    0,
  ],
  [
    'a snippet without a repository',
    lines('snippets', { title: 'x', author_id: 1 }),
    'snippets',
    /no repository/,
    0,
  ],
])('a line with %s fails for itself', async (_what, entry, relation, message, kept) => {
  const { id, status } = await importing(archiveOf(entry));
  expect(status).toMatchObject({ import_status: 'finished', import_error: null });
  expect(status.failed_relations).toEqual([
    expect.objectContaining({
      relation_name: relation,
      exception_message: expect.stringMatching(message),
      line_number: expect.any(Number),
    }),
  ]);
  const issues = bodyOf(await ashlar.root(`GET /projects/${id}/issues`, { query: 'scope=all' }), 200);
  expect(issues).toHaveLength(kept);
});

test('a line says which one it is', async () => {
  const { status } = await importing(
    archiveOf(lines('issues', issue({}), issue({ iid: 2, title: '' }), issue({ iid: 3 }))),
  );
  expect(status.failed_relations).toMatchObject([{ line_number: 2, relation_name: 'issues' }]);
});

test('foreign ids reach nothing: records are put where the archive is imported', async () => {
  const other = await makeReviewedProject(ashlar);
  const { id } = await importing(
    archiveOf(
      lines(
        'issues',
        issue({ id: 1, project_id: other.id, milestone_id: 1, moved_to_id: 1, closed_by_id: 1 }),
      ),
    ),
  );
  expect(bodyOf(await ashlar.root(`GET /projects/${other.id}/issues`), 200)).toEqual([]);
  expect(bodyOf(await ashlar.root(`GET /projects/${id}/issues`), 200)).toMatchObject([
    { iid: 1, project_id: id, milestone: null, moved_to_id: null, closed_by: null },
  ]);
});

test('authors are not forged: whoever imports is the author, and the text says of whom it was', async () => {
  const victim = await makeUser(ashlar, { name: 'The *Victim* @all', public_email: 'victim@public.example' });
  const archive = archiveOf(
    lines('user_contributions', {
      id: 7,
      name: 'The *Victim* @all',
      username: victim.username,
      public_email: 'victim@public.example',
    }),
    lines('project_members', { access_level: 50, user: { id: 7, public_email: 'victim@public.example' } }),
    lines(
      'issues',
      issue({
        author_id: 7,
        notes: [{ author_id: 7, note: 'Mine', award_emoji: [{ name: 'tada', user_id: 7 }] }],
        issue_assignees: [{ user_id: 7 }],
      }),
    ),
    lines('merge_requests', {
      iid: 1,
      title: 'M',
      source_branch: 'a',
      target_branch: 'b',
      author_id: 7,
      approvals: [{ user_id: 7 }],
    }),
  );
  const { id, importer, status } = await importing(archive);
  expect(status.failed_relations).toEqual([]);
  const [found] = bodyOf(await ashlar.root(`GET /projects/${id}/issues`), 200);
  expect(found).toMatchObject({ author: { id: importer.id }, assignees: [] });
  const [note] = bodyOf(await ashlar.root(`GET /projects/${id}/issues/1/notes`), 200);
  expect(note).toMatchObject({
    author: { id: importer.id },
    body: expect.stringMatching(/^\*By The \\\*Victim\\\* \\@all on .* \(imported\)\*\n\nMine$/),
  });
  expect(
    bodyOf(await ashlar.root(`GET /projects/${id}/merge_requests/1/approvals`), 200).approved_by,
  ).toEqual([]);
  const members = bodyOf(await ashlar.root(`GET /projects/${id}/members`), 200);
  expect(members.map((member: { id: number }) => member.id)).not.toContain(victim.id);
  expect((await ashlar.as(victim.token)(`GET /projects/${id}`)).status).toBe(404);
});

test('where an administrator imports, people are found by the addresses that they publish, and owners become Maintainers', async () => {
  const [open, shut] = [
    await makeUser(ashlar, { public_email: 'open@public.example' }),
    await makeUser(ashlar),
  ];
  const archive = archiveOf(
    lines(
      'project_members',
      { access_level: 50, user: { id: 7, public_email: 'OPEN@public.example' } },
      { access_level: 30, user: { id: 8, public_email: null, email: shut.email, username: shut.username } },
    ),
    lines('issues', issue({ author_id: 7 }), issue({ iid: 2, author_id: 8 })),
  );
  const sent = await sendArchive(ashlar, '/projects/import', archive, { path: uniqueName('imported') });
  const { import_status: status } = await importOver(ashlar, sent.body.id);
  expect(status).toBe('finished');
  const issues = bodyOf(
    await ashlar.root(`GET /projects/${sent.body.id}/issues`, { query: 'order_by=created_at&sort=asc' }),
    200,
  );
  expect(issues.map(({ author }: { author: { username: string } }) => author.username)).toEqual(
    expect.arrayContaining([open.username, 'root']),
  );
  const members = bodyOf(await ashlar.root(`GET /projects/${sent.body.id}/members`), 200);
  expect(
    members.map(({ id, access_level }: { id: number; access_level: number }) => [id, access_level]),
  ).toEqual([
    [1, 50],
    [open.id, 40],
  ]);
});

test('nothing that came in an archive runs: jobs that were waiting are over', async () => {
  const sha = '1'.repeat(40);
  const job = (status: string) => ({ type: 'Ci::Build', name: status, status, user_id: 1 });
  const archive = archiveOf(
    lines('ci_pipelines', {
      iid: 1,
      sha,
      ref: 'main',
      status: 'running',
      source: 'push',
      stages: [{ name: 'test', position: 0, statuses: [job('pending'), job('manual'), job('success')] }],
    }),
  );
  const { id, status } = await importing(archive);
  expect(status.failed_relations).toEqual([]);
  const [pipeline] = bodyOf(await ashlar.root(`GET /projects/${id}/pipelines`), 200);
  expect(pipeline.status).toBe('canceled');
  const jobs = bodyOf(await ashlar.root(`GET /projects/${id}/pipelines/${pipeline.id}/jobs`), 200);
  expect(jobs.map((each: { name: string; status: string }) => [each.name, each.status]).sort()).toEqual([
    ['manual', 'canceled'],
    ['pending', 'canceled'],
    ['success', 'success'],
  ]);
});

test('what nobody reads is passed over, and listed', async () => {
  const archive = archiveOf(
    { name: 'project.design.bundle', content: 'x' },
    lines('issues', issue({ zoom_meetings: [], lock_version: 3 })),
    lines('prometheus_metrics', {}),
  );
  const { status } = await importing(archive);
  expect(status).toMatchObject({ import_status: 'finished', failed_relations: [] });
  expect(status.passed_over).toEqual(
    expect.arrayContaining([
      'project.design.bundle',
      'issues.zoom_meetings',
      'issues.lock_version',
      'prometheus_metrics',
    ]),
  );
});

test('names of a line that cannot be stored, or of which there are too many, end no import and flood no record', async () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`name_${index}`, 1]));
  const long = 'n'.repeat(5_000);
  const archive = archiveOf(lines('issues', issue({ 'a\u0000b': 1, [long]: 1, ...many })));
  const { id, status } = await importing(archive);
  expect(status).toMatchObject({ import_status: 'finished', failed_relations: [] });
  expect(status.passed_over).toHaveLength(200);
  expect(status.passed_over).toEqual(
    expect.arrayContaining(['issues.a?b', `issues.${long}`.slice(0, 255), 'issues.name_0']),
  );
  bodyOf(await ashlar.root(`PUT /projects/${id}`, { body: { visibility: 'public' } }), 200);
  const reader = await makeUser(ashlar);
  expect(bodyOf(await ashlar.as(reader.token)(`GET /projects/${id}/import`), 200).passed_over).toEqual([]);
});

test('a line with more objects than can be read at once fails for itself', async () => {
  const notes = `${'{},'.repeat(1_000_000)}{}`;
  const archive = archiveOf(
    lines('issues', `{"iid":1,"title":"One","notes":[${notes}]}`, issue({ iid: 2, title: 'Two' })),
  );
  const { id, status, importer } = await importing(archive);
  expect(status).toMatchObject({
    import_status: 'finished',
    failed_relations: [
      { relation_name: 'issues', line_number: 1, exception_message: 'the line is too long' },
    ],
  });
  expect(bodyOf(await ashlar.as(importer.token)(`GET /projects/${id}/issues`), 200)).toMatchObject([
    { title: 'Two' },
  ]);
});

test.each<[what: string, branch: string]>([
  ['a way out', '../../../x'],
  ['a line end', 'x\nother'],
  ['an option', '--upload-pack=x'],
  ['nothing', ' '],
])('a branch whose name is %s becomes no HEAD', async (_what, default_branch) => {
  const broken = await importing(
    gzipSync(
      tarFile(
        { name: 'VERSION', content: '0.2.4' },
        { name: 'tree/project.json', content: JSON.stringify({ default_branch }) },
        { name: 'project.bundle', content: '# v2 git bundle\nnothing' },
      ),
    ),
  );
  expect(broken.status.import_status).toBe('failed');
  const { repositories, database } = ashlar.app.services;
  const [row] = await database.sql<
    { repository_storage: string }[]
  >`select repository_storage from projects where id = ${broken.id}`;
  const key = { kind: 'project', id: broken.id, wiki: false } as const;
  const { folder } = repositories.open(key, row?.repository_storage ?? '');
  expect(readFileSync(join(folder, 'HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
});

test('attributes of a request that cannot be stored are refused, or taken without them', async () => {
  const importer = await makeUser(ashlar);
  for (const value of ['a\u0000b', '\ud800'])
    for (const name of ['override_params[issues_template]', 'name', 'path', 'namespace']) {
      const fields = { path: uniqueName('imported'), [name]: value };
      const { status } = await sendArchive(ashlar, '/projects/import', whole, fields, importer.token);
      expect([name, status < 500]).toEqual([name, true]);
    }
});

test('variables, hooks and tokens of an archive are not taken', async () => {
  const archive = archiveOf(
    lines('variables', { key: 'A', value: 'b' }),
    lines('hooks', { url: 'https://example.org' }),
    lines('triggers', { token: 'x' }),
  );
  const { id, importer } = await importing(archive);
  for (const path of ['variables', 'hooks', 'triggers'])
    expect(bodyOf(await ashlar.as(importer.token)(`GET /projects/${id}/${path}`), 200)).toEqual([]);
});

test('a project does not become more visible than its importer may make one', async () => {
  bodyOf(
    await ashlar.root('PUT /application/settings', { body: { restricted_visibility_levels: ['public'] } }),
    200,
  );
  const archive = gzipSync(
    tarFile(
      { name: 'VERSION', content: '0.2.4' },
      {
        name: 'tree/project.json',
        content:
          '{"visibility_level": 20, "max_artifacts_size": 9, "merge_method": "ff", "emails_enabled": "no"}',
      },
    ),
  );
  const { id } = await importing(archive);
  const project = bodyOf(await ashlar.root(`GET /projects/${id}`), 200);
  expect(project).toMatchObject({
    visibility: 'internal',
    merge_method: 'ff',
    emails_enabled: true,
    max_artifacts_size: null,
  });
  bodyOf(await ashlar.root('PUT /application/settings', { body: { restricted_visibility_levels: [] } }), 200);
});
