/** Mails about pipelines to addresses that an integration has, over real SMTP. */
import { afterAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { bodyOf, makeProject } from '../../../../test/support/factories.ts';
import { type ReceivedMail, takeMails } from '../../../../test/support/mails.ts';
import { fillProject } from '../../../../test/support/repositories.ts';
import { startSmtp } from '../../../../test/support/smtp.ts';
import type { Properties } from '../kinds/description.ts';
import { pipelineMailDelivery } from './pipelines.ts';

const smtp = await startSmtp(0);
afterAll(() => smtp.stop());
const ashlar = useApp({ env: { SMTP_URL: smtp.url } });

const payload = (status: string, ref: string) => ({
  object_kind: 'pipeline',
  project: { path_with_namespace: 'g/p', web_url: '', default_branch: 'main' },
  object_attributes: { id: 7, ref, tag: false, status, url: 'https://ashlar.example/g/p/-/pipelines/7' },
});
test.each<[Properties, string, string, number]>([
  [{}, 'failed', 'main', 2],
  [{}, 'success', 'main', 0],
  [{}, 'running', 'main', 0],
  [{}, 'failed', 'other', 0],
  [{ notify_only_broken_pipelines: false }, 'success', 'main', 2],
  [{ notify_only_default_branch: false }, 'failed', 'other', 2],
  [{ notify_only_default_branch: true }, 'failed', 'other', 0],
  [{ notify_only_default_branch: false, branches_to_be_notified: 'default' }, 'failed', 'other', 0],
  [{ branches_to_be_notified: 'all' }, 'failed', 'other', 2],
])('with %j, one that is %s on %s is %i mails', (properties, status, ref, count) => {
  const event = { flag: 'pipeline_events', body: payload(status, ref) } as const;
  const given = { recipients: 'a@example.com, b@example.com', ...properties };
  expect(pipelineMailDelivery.prepare(event, given)).toHaveLength(count);
});

test('a pipeline is told to each recipient', async () => {
  const project = await makeProject(ashlar);
  const sha = await fillProject(ashlar, project.id, [{ a: '1' }]);
  const path = `/projects/${project.id}/integrations/pipelines-email`;
  const recipients = 'one@walls.example, two@walls.example';
  bodyOf(await ashlar.root(`PUT ${path}`, { body: { notify_only_broken_pipelines: false } }), 400);
  const set = bodyOf(await ashlar.root(`PUT ${path}`, { body: { recipients } }), 200);
  expect(set).toMatchObject({
    slug: 'pipelines-email',
    active: true,
    pipeline_events: true,
    push_events: false,
    properties: { recipients, notify_only_broken_pipelines: null, notify_only_default_branch: null },
  });
  const say = async (state: string) =>
    bodyOf(
      await ashlar.root(`POST /projects/${project.id}/statuses/${sha}`, {
        body: { state, ref: 'main', name: 'walls' },
      }),
      201,
    );
  await say('failed');
  const mails: ReceivedMail[] = [];
  const take = () => {
    mails.push(...takeMails(smtp).filter(({ to }) => to.endsWith('@walls.example')));
    return mails.length;
  };
  await expect.poll(take, { timeout: 10_000 }).toBe(2);
  expect(mails.map(({ to }) => to).toSorted()).toEqual(['one@walls.example', 'two@walls.example']);
  expect(mails[0]?.subject).toContain('of branch main');
  expect(mails[0]?.subject).toContain('failed');
  expect(mails[0]?.text).toContain('Commit 1');
  expect(mails[0]?.text).toContain('/-/pipelines/');
});
