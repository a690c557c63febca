/** The order in which requests to services are sent. */
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeGroup } from '../../../../test/support/factories.ts';
import { makeMergeRequest, makeReviewedProject } from '../../../../test/support/merge-requests.ts';

const ashlar = useApp({ env: { ASHLAR_TIER: 'ultimate' }, still: true });

/** A project of a group of its own, whose check may be asked for each of so many merge requests. */
async function makeChecked(count: number) {
  const { id: namespace_id } = await makeGroup(ashlar);
  const { id } = await makeReviewedProject(ashlar, { namespace_id });
  const check = { name: 'Compliance', external_url: 'https://service.example/hook' };
  const made = bodyOf(await ashlar.root(`POST /projects/${id}/external_status_checks`, { body: check }), 201);
  const mergeRequests: { id: number; iid: number }[] = [];
  for (let number = 1; number <= count; number++)
    mergeRequests.push(await makeMergeRequest(ashlar, id, `topic-${number}`));
  const ask = async ({ iid }: { iid: number }) => {
    const path = `/projects/${id}/merge_requests/${iid}/status_checks/${made.id}/retry`;
    bodyOf(await ashlar.root(`POST ${path}`), 202);
  };
  return { mergeRequests, ask };
}

test('who has many waiting goes by turns with others', async () => {
  const [many, few] = [await makeChecked(3), await makeChecked(2)];
  for (const { mergeRequests, ask } of [many, few]) for (const one of mergeRequests) await ask(one);
  const { sql } = ashlar.app.services.database;
  const jobs = await sql<{ id: number }[]>`
    select (payload ->> 'merge_request_id')::integer as id from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
    where t.identifier = 'merge_requests.send_status_checks' order by j.priority, j.run_at, j.id`;
  const [first, second, third] = many.mergeRequests;
  const [fourth, fifth] = few.mergeRequests;
  expect(jobs.map(({ id }) => id)).toEqual([first, fourth, second, fifth, third].map((one) => one?.id));
});
