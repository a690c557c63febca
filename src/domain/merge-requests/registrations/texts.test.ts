/** Merge requests that texts name: references in Markdown, and those in system notes, over HTTP. */
import { describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeUser, makeGroup } from '../../../../test/support/factories.ts';
import {
  makeMergeRequest,
  makeReaderWorld,
  makeReviewedProject,
  readersBySettings,
  readersWho,
} from '../../../../test/support/merge-requests.ts';
import { makeIssue } from '../../../../test/support/planning.ts';

const ashlar = useApp();

/** The texts of the links, with where they lead below the base. */
async function linksOf(text: string, call = ashlar.root, project?: string): Promise<string[]> {
  const { html } = bodyOf(await call('POST /markdown', { body: { text, gfm: true, project } }), 201);
  return [...html.matchAll(/<a href="([^"]*)"[^>]*class="gfm gfm-merge_request"[^>]*>(.*?)<\/a>/g)].map(
    ([, href = '', shown = '']) => `${shown} → ${href.replace(ashlar.url, '')}`,
  );
}

/** A system note, as one is written about a change. */
async function addSystemNote(
  on: { issue_id: number; project_id: number },
  action: string,
  body: string,
): Promise<void> {
  await ashlar.app.services.database.sql`
    insert into notes (project_id, issue_id, author_id, body, discussion_id, system_action, created_at, updated_at)
    values (${on.project_id}, ${on.issue_id}, 1, ${body}, ${body}, ${action}, now(), now())`;
}

describe('references', () => {
  test('lead where they say, in the project, beside it and from elsewhere', async () => {
    const group = await makeGroup(ashlar);
    const project = await makeReviewedProject(ashlar, { namespace_id: group.id });
    const beside = await makeReviewedProject(ashlar, { namespace_id: group.id });
    const { sql } = ashlar.app.services.database;
    for (const branch of ['one', 'two', 'three', 'four']) await makeMergeRequest(ashlar, project.id, branch);
    for (const [iid, state] of [
      [2, 'closed'],
      [3, 'merged'],
      [4, 'locked'],
    ] as const)
      await sql`update merge_requests set state = ${state} where project_id = ${project.id} and iid = ${iid}`;
    const path = project.path_with_namespace;
    const [, own = ''] = path.split('/');
    const at = `/${path}/-/merge_requests`;
    expect(await linksOf('!1, !2 (!3) !4 !5 !!1 `!1`', ashlar.root, path)).toEqual([
      `!1 → ${at}/1`,
      `!2 (closed) → ${at}/2`,
      `!3 (merged) → ${at}/3`,
      `!4 → ${at}/4`,
    ]);
    expect(await linksOf(`${own}!1 !1`, ashlar.root, beside.path_with_namespace)).toEqual([
      `${own}!1 → ${at}/1`,
    ]);
    expect(await linksOf(`${path}!1 !1 other/place!1`)).toEqual([`${path}!1 → ${at}/1`]);
    const address = `${ashlar.url}${at}/3`;
    expect(await linksOf(address, ashlar.root, path)).toEqual([`!3 (merged) → ${at}/3`]);
    expect(await linksOf(address, ashlar.root, beside.path_with_namespace)).toEqual([
      `${own}!3 (merged) → ${at}/3`,
    ]);
    expect(await linksOf(address)).toEqual([`${path}!3 (merged) → ${at}/3`]);
  });

  test('titles are escaped', async () => {
    const project = await makeReviewedProject(ashlar);
    await makeMergeRequest(ashlar, project.id, 'topic', { title: '"><script>' });
    const body = { text: '!1', gfm: true, project: project.path_with_namespace };
    const { html } = bodyOf(await ashlar.root('POST /markdown', { body }), 201);
    expect(html).toContain('title="&quot;&gt;&lt;script&gt;"');
  });
});

test.each(readersBySettings)('with %j what names one leads %j there alone', async (settings, names) => {
  const world = await makeReaderWorld(ashlar, settings);
  const { references, web_url } = world.mergeRequest;
  const open = await makeReviewedProject(ashlar, { visibility: 'public' });
  const issue = await makeIssue(ashlar, open);
  const on = { project_id: open.id, issue_id: issue.id };
  await addSystemNote(on, 'merge', `created merge request ${references.full} to address this issue`);
  await addSystemNote(on, 'closed', `closed via merge request ${references.full}`);
  await addSystemNote(on, 'title', 'changed title from **!1** to **!2**');
  await world.configure();
  for (const text of [references.full, web_url]) {
    const linked = async (user: MadeUser) => (await linksOf(text, ashlar.as(user.token))).length === 1;
    expect([text, await readersWho(world, linked)]).toEqual([text, names]);
  }
  const path = `/projects/${open.id}/issues/${issue.iid}/notes`;
  const notesFor = async (user: MadeUser): Promise<string[]> =>
    bodyOf(await ashlar.as(user.token)(`GET ${path}`, { query: 'sort=asc' }), 200).map(
      (note: { body: string }) => note.body,
    );
  const told = (reference: string) => [
    `created merge request ${reference} to address this issue`,
    `closed via merge request ${reference}`,
    'changed title from **!1** to **!2**',
  ];
  const isWhole = async (user: MadeUser) => {
    const notes = await notesFor(user);
    const whole = notes[0]?.includes(references.full) ?? false;
    expect(notes).toEqual(told(whole ? references.full : '[hidden]'));
    return whole;
  };
  expect(await readersWho(world, isWhole)).toEqual(names);
});

test('an issue that moves takes along what its text names, where that is there', async () => {
  const project = await makeReviewedProject(ashlar);
  const other = await makeReviewedProject(ashlar);
  await makeMergeRequest(ashlar, project.id, 'topic');
  const issue = await makeIssue(ashlar, project, { description: 'See !1 and !2, not `!1`.' });
  const path = `/projects/${project.id}/issues/${issue.iid}/move`;
  const moved = bodyOf(await ashlar.root(`POST ${path}`, { body: { to_project_id: other.id } }), 201);
  expect(moved.description).toBe(`See ${project.path_with_namespace}!1 and !2, not \`!1\`.`);
});
