/** What hooks were sent, and sending again or for a test: the same endpoints for projects and groups. */
import Type from 'typebox';
import { onInstance } from '../../../kernel/access/access.ts';
import { isInstance, isProject, type ParentOrInstance } from '../../../kernel/access/resource-parents.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { Failure } from '../../../platform/failure.ts';
import { integerId, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { hookSamples } from '../events/hook-events.ts';
import { ALWAYS, type HookFlag, hookKinds } from '../management/kinds.ts';
import { type HookRow, selectHook } from '../management/queries.ts';
import { type HookHome, hookHomes } from '../management/routes.ts';
import { unprocessable } from '../management/rules.ts';
import { readSecrets } from '../management/secrets.ts';
import { sendAgain, sendTest } from './immediate.ts';
import { LOG_MS, LogInput, LogRecord, OneLogged, presentLogged, ResentRecord } from './log.ts';
import { selectLatestProject, selectLog, selectSent } from './queries.ts';
import { maskedUrl } from './send.ts';

const Created = Type.Object({ message: Type.String() });

/** Calls of one user on one hook in a minute (facts-merge-requests: 10.1). */
const LIMIT = { limit: 5, periodSeconds: 60 };

type HookCall = Context<{ hook_id: number }, ParentOrInstance, Actor>;

/** 429 where the user has it sent to the hook too often. */
async function limitSending({ services, actor, input }: HookCall, what: string): Promise<void> {
  const taken = await services.limiter.take(`hook_${what}:${actor.id}:${input.hook_id}`, LIMIT);
  if (taken.allowed) return;
  const error = 'This endpoint has been requested too many times. Try again later.';
  throw new Failure('too_many_requests', { error } as never, {
    headers: { 'retry-after': String(taken.retryAfter) },
  });
}

const findHook = async ({ db, subject, input }: HookCall): Promise<HookRow> =>
  found(await selectHook(db, subject, input.hook_id));

/** What tests are of: the kinds that a source registered a sample for. */
const tested = Object.keys(hookKinds) as HookFlag[];

function endpointsOf({ path, whose, manage, tier: least }: HookHome): Endpoint[] {
  const tier = least && { tier: least };
  const one = `${path}/:hook_id` as const;
  return [
    listing({
      method: 'GET',
      path: `${one}/events`,
      summary: `What a webhook ${whose} was sent in the last two days, the newest first.`,
      ...tier,
      access: manage,
      page: 'offset',
      input: LogInput,
      item: LogRecord,
      handle: async (context) => {
        const { db, input, page } = context;
        const since = new Date(now().getTime() - LOG_MS);
        return mapPage(
          await selectLog(db, await findHook(context), input.status, since, page),
          presentLogged,
        );
      },
    }),
    endpoint({
      method: 'POST',
      path: `${one}/events/:hook_log_id/resend`,
      summary: `Sends a webhook ${whose} again what it was sent, under the same key.`,
      ...tier,
      access: manage,
      also: [422],
      input: OneLogged,
      reply: ResentRecord,
      handle: async (context) => {
        const { db, services, input } = context;
        const hook = await findHook(context);
        const sent = found(await selectSent(db, hook, input.hook_log_id));
        await limitSending(context, 'resend');
        if (sent.url !== maskedUrl(readSecrets(services.secretKey, hook)))
          throw unprocessable('The hook URL has changed. Unable to resend');
        return { response_status: await sendAgain(services, hook, sent) };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${one}/test/:trigger`,
      summary: `Sends a webhook ${whose} an event of its newest thing of a kind.`,
      ...tier,
      access: manage,
      also: [422],
      input: Type.Object({ hook_id: integerId(), trigger: stringEnum(tested) }),
      reply: Created,
      handle: async (context) => {
        const { db, services, subject, actor, input } = context;
        const hook = await findHook(context);
        const sample = hookSamples.all(services).find(({ flag }) => flag === input.trigger);
        if (sample === undefined || isInstance(subject)) throw unprocessable('The trigger has no sample.');
        await limitSending(context, 'test');
        const projectId = isProject(subject) ? subject.id : await selectLatestProject(db, subject.id);
        const event =
          projectId === undefined
            ? { missing: 'Ensure the group has a project with commits.' }
            : await sample.eventFor(services, { projectId, userId: actor.id });
        await sendTest(services, hook, event);
        return { message: '201 Created' };
      },
    }),
  ];
}

/** What the hooks of the instance are tested with: of no project (facts-merge-requests: 10.1). */
const INSTANCE_SAMPLE = {
  event_name: 'project_create',
  name: 'Ruby',
  path: 'ruby',
  project_id: 1,
  owner_name: 'Someone',
  owner_email: 'example@gitlabhq.com',
};

const InstanceSample = Type.Object({
  event_name: Type.String(),
  name: Type.String(),
  path: Type.String(),
  project_id: Type.Integer(),
  owner_name: Type.String(),
  owner_email: Type.String(),
});

const testOfInstance = endpoint({
  method: 'POST',
  path: '/hooks/:hook_id',
  summary: 'Sends a webhook of the instance the sample of an event, and returns it.',
  access: onInstance,
  also: [422],
  input: Type.Object({ hook_id: integerId() }),
  reply: InstanceSample,
  handle: async (context) => {
    const hook = await findHook(context);
    await limitSending(context, 'test');
    await sendTest(context.services, hook, { flag: ALWAYS, body: INSTANCE_SAMPLE });
    return INSTANCE_SAMPLE;
  },
});

export const deliveryEndpoints: Endpoint[] = [
  ...hookHomes.filter(({ kind }) => kind !== 'instance').flatMap(endpointsOf),
  testOfInstance,
];
