/** The spam check over HTTP, for snippets, with both services running (spec: Requests detected as spam). */
import { beforeEach, describe, expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { bodyOf, type MadeUser, makeProject, makeUser } from '../../../test/support/factories.ts';
import { SOLUTION, useSpamServices } from '../../../test/support/spam-services.ts';
import { moveClock } from '../../platform/clock.ts';

const app = useApp();
const services = useSpamServices(app);
beforeEach(() => services.reset());

const spam = { title: 'Buy', visibility: 'public', file_name: 'a.txt', content: 'this is spam' };
const good = { ...spam, content: 'this is good' };

const create = (user: MadeUser, body: object, headers: Record<string, string> = {}) =>
  app.as(user.token)('POST /snippets', { body, headers });
const repeated = (id: unknown, response = SOLUTION) => ({
  'x-service-captcha-response': response,
  'x-service-spam-log-id': String(id),
});
const snippetsOf = async (user: MadeUser): Promise<unknown[]> =>
  bodyOf(await app.as(user.token)('GET /snippets'), 200);
const logsOf = (user: MadeUser) =>
  app.app.services.database.sql`select * from spam_logs where user_id = ${user.id} order by id`;

describe('without a CAPTCHA service', () => {
  test('spam is refused and discarded, and what is kept of it is this', async () => {
    await services.reset({ recaptcha_enabled: false });
    const user = await makeUser(app);
    const response = await create(user, { ...spam, description: 'About it' }, { 'user-agent': 'tester/1' });
    expect([response.status, response.body]).toEqual([
      400,
      { message: { error: 'Your snippet has been recognized as spam and has been discarded.' } },
    ]);
    expect(await snippetsOf(user)).toEqual([]);
    expect(await logsOf(user)).toMatchObject([
      {
        noteable_type: 'Snippet',
        title: 'Buy',
        description: 'About it\nthis is spam',
        source_ip: '127.0.0.1',
        user_agent: 'tester/1',
        recaptcha_verified: false,
      },
    ]);
  });

  test('nothing lets it pass: not even a solution', async () => {
    await services.reset({ recaptcha_enabled: false });
    const user = await makeUser(app);
    await create(user, spam);
    const [log] = await logsOf(user);
    expect((await create(user, spam, repeated(log?.id))).status).toBe(400);
    expect(services.solutions()).toEqual([]);
  });
});

describe('what the spam service is asked', () => {
  test('who wrote what, from where', async () => {
    const user = await makeUser(app);
    const written = { ...good, title: 'Title', description: 'Words', content: 'Content' };
    expect((await create(user, written, { 'user-agent': 'tester/1' })).status).toBe(201);
    expect(services.asked().map((requested) => Object.fromEntries(requested))).toEqual([
      {
        api_key: expect.any(String),
        blog: app.app.services.baseUrl(),
        blog_charset: 'UTF-8',
        user_ip: '127.0.0.1',
        user_agent: 'tester/1',
        comment_type: 'forum-post',
        comment_author: user.username,
        comment_author_email: `${user.username}@example.com`,
        comment_content: 'Title\nWords\nContent',
        comment_date_gmt: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
    expect(await logsOf(user)).toEqual([]);
  });

  test('nothing of what only some may read, and nothing of administrators', async () => {
    const user = await makeUser(app);
    for (const visibility of ['private', 'internal']) {
      expect((await create(user, { ...spam, visibility })).status).toBe(201);
    }
    const attributes = { visibility: 'public', snippets_access_level: 'private' };
    for (const project of [await makeProject(app), await makeProject(app, attributes)]) {
      bodyOf(
        await app.root(`POST /projects/${project.id}/members`, {
          body: { user_id: user.id, access_level: 30 },
        }),
        201,
      );
      const path = `/projects/${project.id}/snippets`;
      expect((await app.as(user.token)(`POST ${path}`, { body: spam })).status).toBe(201);
    }
    expect((await app.root('POST /snippets', { body: spam })).status).toBe(201);
    const sudo = { query: `sudo=${user.id}`, body: spam };
    expect((await app.root('POST /snippets', sudo)).status).toBe(201);
    expect(services.asked()).toEqual([]);
  });

  test('what becomes public, whole, and what changes of what is', async () => {
    const user = await makeUser(app);
    const as = app.as(user.token);
    const { id } = bodyOf(await create(user, { ...spam, visibility: 'private' }), 201);
    const put = (body: object) => as(`PUT /snippets/${id}`, { body });
    expect((await put({ content: 'still spam' })).status).toBe(200);
    expect(services.asked()).toEqual([]);
    expect((await put({ visibility: 'public' })).status).toBe(409);
    expect(services.asked()[0]?.get('comment_content')).toBe('Buy\nstill spam');
    expect((await put({ content: 'fine' })).status).toBe(200);
    expect((await put({ visibility: 'public' })).status).toBe(200);
    expect(services.asked().at(-1)?.get('recheck_reason')).toBe('edit');
    await services.reset();
    expect((await put({ title: 'Buy', visibility: 'public' })).status).toBe(200);
    expect(services.asked()).toEqual([]);
    expect((await put({ title: 'spam' })).status).toBe(409);
    expect((await put({ description: 'spam' })).status).toBe(409);
    const files = [{ action: 'create', file_path: 'b.txt', content: 'spam' }];
    expect((await put({ files })).status).toBe(409);
    expect((await as(`GET /snippets/${id}`)).body).toMatchObject({ title: 'Buy', file_name: 'a.txt' });
    expect((await put({ visibility: 'private', content: 'spam again' })).status).toBe(200);
  });

  test('nothing while it is off', async () => {
    await services.reset({ akismet_enabled: false });
    expect((await create(await makeUser(app), spam)).status).toBe(201);
    expect(services.asked()).toEqual([]);
  });
});

describe('with a CAPTCHA service', () => {
  test('spam is answered with what is needed to repeat it, and the repetition passes once', async () => {
    const user = await makeUser(app);
    const refused = await create(user, spam);
    const [log] = await logsOf(user);
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        needs_captcha_response: true,
        spam_log_id: log?.id,
        captcha_site_key: 'the-site-key',
        message: {
          error:
            'Your snippet has been recognized as spam. Please, change the content or solve the reCAPTCHA to proceed.',
        },
      },
    ]);
    expect(await snippetsOf(user)).toEqual([]);
    const headers = repeated(refused.body.spam_log_id);
    expect((await create(user, spam, headers)).status).toBe(201);
    expect(services.solutions().map((requested) => Object.fromEntries(requested))).toMatchObject([
      { response: SOLUTION, remoteip: '127.0.0.1' },
    ]);
    expect(await logsOf(user)).toMatchObject([{ recaptcha_verified: true }]);
    const again = await create(user, spam, headers);
    expect(again.status).toBe(409);
    expect(again.body.spam_log_id).not.toBe(refused.body.spam_log_id);
    expect(await snippetsOf(user)).toHaveLength(1);
  });

  test('the public names of the headers are taken, and another form of the same request', async () => {
    const user = await makeUser(app);
    const { body } = await create(user, spam);
    const passed = await app.as(user.token)('POST /snippets', {
      form: new URLSearchParams(Object.entries(spam).reverse()).toString(),
      headers: {
        'x-gitlab-captcha-response': SOLUTION,
        'x-gitlab-spam-log-id': String(body.spam_log_id),
      },
    });
    expect(passed.status).toBe(201);
  });

  test.each<[string, (id: number) => { body?: object; headers: Record<string, string> }]>([
    ['another content', (id) => ({ body: { ...spam, content: 'more spam' }, headers: repeated(id) })],
    ['another visibility', (id) => ({ body: { ...spam, description: '' }, headers: repeated(id) })],
    ['another log', (id) => ({ headers: repeated(id + 1_000) })],
    ['no log', () => ({ headers: { 'x-service-captcha-response': SOLUTION } })],
    ['a log that is no number', () => ({ headers: repeated('1 or 1=1') })],
    ['a log beyond all numbers', () => ({ headers: repeated('9'.repeat(30)) })],
    ['no solution', (id) => ({ headers: { 'x-service-spam-log-id': String(id) } })],
    ['a wrong solution', (id) => ({ headers: repeated(id, 'guessed') })],
  ])('a repetition with %s is stopped again', async (_, change) => {
    const user = await makeUser(app);
    const { spam_log_id: id } = (await create(user, spam)).body;
    const { body = spam, headers } = change(id);
    const response = await create(user, body, headers);
    expect([response.status, response.body.needs_captcha_response]).toEqual([409, true]);
    expect(await snippetsOf(user)).toEqual([]);
    expect((await create(user, spam, repeated(id))).status).toBe(201);
  });

  test('a repetition elsewhere, by somebody else, or much later is stopped again', async () => {
    const [user, other] = [await makeUser(app), await makeUser(app)];
    const { spam_log_id: id } = (await create(user, spam)).body;
    expect((await create(other, spam, repeated(id))).status).toBe(409);
    const project = await makeProject(app, { visibility: 'public' });
    const membership = { body: { user_id: user.id, access_level: 30 } };
    bodyOf(await app.root(`POST /projects/${project.id}/members`, membership), 201);
    const elsewhere = { body: spam, headers: repeated(id) };
    const path = `POST /projects/${project.id}/snippets`;
    expect((await app.as(user.token)(path, elsewhere)).status).toBe(409);
    expect(services.solutions()).toEqual([]);
    const back = moveClock(3_600_001);
    try {
      expect((await create(user, spam, repeated(id))).status).toBe(409);
    } finally {
      back();
    }
  });

  test('of two repetitions at once one passes', async () => {
    const user = await makeUser(app);
    const { spam_log_id: id } = (await create(user, spam)).body;
    const responses = await Promise.all(Array.from({ length: 4 }, () => create(user, spam, repeated(id))));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await snippetsOf(user)).toHaveLength(1);
  });

  test.each<[string, { status: number; body: string }]>([
    ['is down', { status: 500, body: '' }],
    ['says nothing', { status: 200, body: '{}' }],
    ['speaks in tongues', { status: 200, body: '<html>' }],
    ['says something like yes', { status: 200, body: '{"success":"true"}' }],
  ])('nobody passes while that service %s', async (_, { status, body }) => {
    const user = await makeUser(app);
    const { spam_log_id: id } = (await create(user, spam)).body;
    services.captchaAnswer = (reply) => void reply.writeHead(status).end(body);
    expect((await create(user, spam, repeated(id))).status).toBe(409);
    services.captchaAnswer = undefined;
    expect((await create(user, spam, repeated(id))).status).toBe(201);
  });
});

describe('without a verdict', () => {
  const down = (status: number, body: string) => () => {
    services.answer = (reply) => void reply.writeHead(status, { 'x-akismet-debug-help': 'why' }).end(body);
    return {};
  };
  const cases: [string, () => Record<string, unknown>][] = [
    ['the service is down', down(500, 'true')],
    ['the service refuses the key', down(200, 'invalid')],
    ['the service is somebody else', down(200, '<html>true</html>')],
    [
      'the service breaks off',
      () => {
        services.answer = (reply) => void reply.destroy();
        return {};
      },
    ],
    ['the service is in a network that is not allowed', () => ({ outbound_local_requests_allowlist: [] })],
    ['the service is nowhere', () => ({ akismet_url: 'http://127.0.0.1:1' })],
  ];

  test.each(cases)('a write passes when %s and the setting allows it', async (_, prepare) => {
    const user = await makeUser(app);
    await services.reset(prepare());
    prepare();
    expect((await create(user, spam)).status).toBe(201);
    expect(await logged(user)).toMatchObject({ passed: true, kind: 'Snippet', level: 'error' });
  });

  test.each(cases)('a write is refused when %s and the setting holds it', async (_, prepare) => {
    const user = await makeUser(app);
    await services.reset({ ...prepare(), spam_check_failure: 'hold' });
    prepare();
    const response = await create(user, good);
    expect([response.status, response.body]).toEqual([
      503,
      {
        message: {
          error: 'Your snippet could not be checked for spam and has been discarded. Try again later.',
        },
      },
    ]);
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await snippetsOf(user)).toEqual([]);
    expect(await logged(user)).toMatchObject({ passed: false, kind: 'Snippet', level: 'error' });
  });

  /** The log line about the missing verdict on the user's text. */
  const logged = async (user: MadeUser): Promise<unknown> => {
    const find = () =>
      app.log
        .join('')
        .split('\n')
        .find((line) => line.includes('no verdict on spam') && line.includes(`"user":${user.id},`));
    await expect.poll(find).toBeDefined();
    const line = find() ?? '';
    expect(line).not.toMatch(/this is|the-key-of/);
    return JSON.parse(line);
  };

  test('a key that cannot be unsealed is no verdict either', async () => {
    const user = await makeUser(app);
    const { settings, database } = app.app.services;
    await services.reset({ spam_check_failure: 'hold' });
    await settings.write(database.db, { akismet_api_key: 'v1.other.key' });
    settings.forget();
    expect((await create(user, good)).status).toBe(503);
    expect(services.asked()).toEqual([]);
  });
});

test('logs are forgotten after 90 days, and with their user', async () => {
  const [old, gone] = [await makeUser(app), await makeUser(app)];
  await create(old, spam);
  const sweep = app.app.capabilities.find(({ name }) => name === 'spam')?.tasks?.['spam.sweep_logs'];
  const { db } = app.app.services.database;
  const run = async () => sweep?.({});
  await run();
  expect(await logsOf(old)).toHaveLength(1);
  const back = moveClock(90 * 86_400_000 + 1);
  try {
    await run();
  } finally {
    back();
  }
  expect(await logsOf(old)).toEqual([]);
  await create(gone, spam);
  expect(await logsOf(gone)).toHaveLength(1);
  const capability = app.app.capabilities.find(({ tables }) => tables.includes('spam_logs'));
  await capability?.reassign?.(db, gone.id, 0, false);
  expect(await logsOf(gone)).toEqual([]);
});
