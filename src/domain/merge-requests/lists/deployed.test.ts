/** The merge requests that deployments brought. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { addMember, bodyOf, makeUser } from '../../../../test/support/factories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const app = useApp();

test('are those that were merged since the deployment before', async () => {
  const project = await makeReviewedProject(app, { visibility: 'private' });
  const path = `/projects/${project.id}`;
  const deploy = async (sha: string, status = 'success'): Promise<number> => {
    const body = { environment: 'live', sha, ref: 'main', tag: false, status };
    return bodyOf(await app.root(`POST ${path}/deployments`, { body }), 201).id;
  };
  const head = async (): Promise<string> =>
    bodyOf(await app.root(`GET ${path}/repository/branches/main`), 200).commit.id;
  const merge = async (branch: string, body: object = {}): Promise<number> => {
    const { iid } = await makeMergeRequest(app, project.id, branch);
    bodyOf(await app.root(`PUT ${path}/merge_requests/${iid}/merge`, { body }), 200);
    return iid;
  };
  const brought = async (id: number, query = 'sort=asc') =>
    bodyOf(await app.root(`GET ${path}/deployments/${id}/merge_requests`, { query }), 200).map(
      ({ iid }: { iid: number }) => iid,
    );

  const first = await merge('one');
  const one = await deploy(await head());
  const [second, third] = [await merge('two', { squash: true }), await merge('three')];
  const failed = await deploy(await head(), 'failed');
  await makeMergeRequest(app, project.id, 'open');
  bodyOf(await app.root(`PUT ${path}`, { body: { merge_method: 'ff' } }), 200);
  const { iid: fourth } = await makeMergeRequest(app, project.id, 'four');
  bodyOf(await app.root(`PUT ${path}/merge_requests/${fourth}/merge`), 200);
  const two = await deploy(await head());
  const again = await deploy(await head());

  expect(await brought(one)).toEqual([first]);
  expect(await brought(failed)).toEqual([second, third]);
  expect(await brought(two)).toEqual([second, third, fourth]);
  expect(await brought(again)).toEqual([]);
  expect(await brought(two, 'sort=asc&search=three')).toEqual([third]);
  expect(await brought(two, 'state=opened')).toEqual([]);

  const user = await makeUser(app);
  const request = `GET ${path}/deployments/${two}/merge_requests`;
  expect((await app.as(user.token)(request)).status).toBe(404);
  await addMember(app, `projects/${project.id}`, user, 10);
  expect((await app.as(user.token)(request)).status).toBe(403);
  const other = await makeReviewedProject(app);
  expect((await app.root(`GET /projects/${other.id}/deployments/${two}/merge_requests`)).status).toBe(404);
  bodyOf(await app.root(`PUT ${path}`, { body: { environments_access_level: 'disabled' } }), 200);
  expect((await app.root(request)).status).toBe(403);
});
