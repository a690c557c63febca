/** Titles that a project holds to a pattern: set, shown in the merge status, and obeyed by merges. */
import { beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, type MadeProject, makeProject, makeUser } from '../../../../test/support/factories.ts';
import {
  makeMergeRequest,
  makeReviewedProject,
  waitForFollowing,
} from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'free' } });
let project: MadeProject;
const PATTERN = '^(feat|fix)(\\(.+\\))?: .+';

const configure = (body: Record<string, unknown>) => ashlar.root(`PUT /projects/${project.id}`, { body });
const path = (iid: number, rest = '') => `/projects/${project.id}/merge_requests/${iid}${rest}` as const;
const retitle = async (iid: number, title: string) =>
  bodyOf(await ashlar.root(`PUT ${path(iid)}`, { body: { title } }), 200);

beforeEach(async () => {
  project = await makeReviewedProject(ashlar);
});

describe('the setting', () => {
  test('is kept and shown with its description, and taken back', async () => {
    const wanted = {
      merge_request_title_regex: PATTERN,
      merge_request_title_regex_description: 'Conventional commits, please.',
    };
    expect(bodyOf(await configure(wanted), 200)).toMatchObject(wanted);
    expect(bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200)).toMatchObject(wanted);
    const none = { merge_request_title_regex: null };
    expect(bodyOf(await configure(none), 200)).toMatchObject(none);
  });

  test.each([
    ['(', 'is not valid RE2 syntax: missing closing ): `(`'],
    ['.{1000}'.repeat(36), 'is too complex'],
  ])('refuses %s, of new projects as well', async (pattern, problem) => {
    const body = { merge_request_title_regex: pattern };
    const refusal = { status: 400, body: { message: { merge_request_title_regex: [problem] } } };
    expect(await configure({ ...body, description: 'Changed' })).toMatchObject(refusal);
    const shown = bodyOf(await ashlar.root(`GET /projects/${project.id}`), 200);
    expect(shown).toMatchObject({ merge_request_title_regex: null, description: null });
    expect(await ashlar.root('POST /projects', { body: { name: 'Patterned', ...body } })).toMatchObject(
      refusal,
    );
  });

  test('is for those who administer the project', async () => {
    const user = await makeUser(ashlar);
    const open = await makeProject(ashlar, { visibility: 'public' });
    const set = ashlar.as(user.token)(`PUT /projects/${open.id}`, {
      body: { merge_request_title_regex: PATTERN },
    });
    expect((await set).status).toBe(403);
  });
});

test('a title that does not match is not merged until it does', async () => {
  const { iid } = await makeMergeRequest(ashlar, project.id, 'topic', { title: 'Doors' });
  const merge = (body = {}) => ashlar.root(`PUT ${path(iid, '/merge')}`, { body });
  bodyOf(await configure({ merge_request_title_regex: PATTERN }), 200);
  expect(bodyOf(await ashlar.root(`GET ${path(iid)}`), 200).detailed_merge_status).toBe('title_regex');
  const [listed] = bodyOf(await ashlar.root(`GET /projects/${project.id}/merge_requests`), 200);
  expect(listed.detailed_merge_status).toBe('title_regex');
  expect(await merge()).toMatchObject({ status: 405, body: { message: '405 Method Not Allowed' } });
  expect((await retitle(iid, 'fix(doors): they close')).detailed_merge_status).toBe('mergeable');
  expect(bodyOf(await merge(), 200).state).toBe('merged');
});

test('what is merged by itself waits for the title', async () => {
  const { iid } = await makeMergeRequest(ashlar, project.id, 'topic', { title: 'Doors' });
  bodyOf(await configure({ merge_request_title_regex: PATTERN }), 200);
  const merge = await ashlar.root(`PUT ${path(iid, '/merge')}`, { body: { auto_merge: true } });
  expect(bodyOf(merge, 200)).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true });
  await retitle(iid, 'feat: doors');
  await waitForFollowing(ashlar);
  expect(bodyOf(await ashlar.root(`GET ${path(iid)}`), 200).state).toBe('merged');
});

test('in a list each project has its own', async () => {
  const other = await makeReviewedProject(ashlar);
  const first = await makeMergeRequest(ashlar, project.id, 'topic', { title: 'Doors' });
  const second = await makeMergeRequest(ashlar, other.id, 'topic', { title: 'Windows' });
  bodyOf(await configure({ merge_request_title_regex: '^W' }), 200);
  const list = bodyOf(await ashlar.root('GET /merge_requests', { query: 'per_page=50' }), 200);
  const statusOf = (id: number) => list.find((each: { id: number }) => each.id === id)?.detailed_merge_status;
  expect([statusOf(first.id), statusOf(second.id)]).toEqual(['title_regex', 'mergeable']);
});
