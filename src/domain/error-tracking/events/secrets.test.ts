/** Secrets in the shapes in which applications send them: none is kept. */
import { expect, test } from 'vitest';
import { outlineEvent } from './normalise.ts';

const S = 'hunTer2q9Z';
const arrival = { receivedAt: new Date('2026-10-30T10:40:00Z'), keepAddresses: false, address: null };

test.each<[place: string, event: Record<string, unknown>]>([
  ['nested json double', { extra: { body: `{"a":{"data":"{\\"password\\":\\"${S}\\"}"}}` } }],
  ['json array tokens', { extra: { body: `{"tokens":["${S}","b"]}` } }],
  ['py bytes', { message: `{'password': b'${S}'}` }],
  ['py kw bytes', { message: `User(password=b'${S}')` }],
  ['ruby hash', { message: `{:password=>"${S}", :a=>1}` }],
  ['ruby34', { message: `{secret: "${S}"}` }],
  ['node inspect', { message: `{ refreshToken: '${S}', a: 1 }` }],
  ['go map', { message: `map[token:${S} a:b]` }],
  ['go struct', { message: `{User:bob Password:${S}}` }],
  ['mysql go dsn', { message: `dial root:${S}@tcp(db:3306)/x` }],
  ['url odd', { message: `postgres://bob:a/${S}#1@db/x` }],
  ['redis', { message: `redis://:${S}@cache:6379/0` }],
  ['conn string', { message: `Server=x;User Id=sa;Password=ab'${S};Database=y` }],
  ['azure', { message: `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${S}==;EndpointSuffix=x` }],
  ['sas', { request: { url: `https://a.blob.core/x?sv=2020&sig=${S}` } }],
  ['aws presigned', { request: { url: `https://b.s3/x?X-Amz-Credential=${S}&X-Amz-Signature=${S}` } }],
  ['nested url', { request: { url: `https://x/login?next=%2Fcb%3Ftoken%3D${S}%26a%3Db` } }],
  ['query list', { request: { query_string: [['token', S]] } }],
  ['query obj', { request: { query_string: { api_key: S } } }],
  [
    'headers arrays',
    {
      request: {
        headers: [
          ['Authorization', `Bearer ${S}`],
          ['Cookie', S],
        ],
      },
    },
  ],
  ['headers obj arr', { request: { headers: { Cookie: [S], 'X-Api-Key': [S] } } }],
  ['cookies', { request: { cookies: { a: S }, headers: [['Cookie', S]] } }],
  ['data form', { request: { data: `user=a&password=${S}` } }],
  ['data obj', { request: { data: { user: { new_password: S } } } }],
  ['data key', { request: { data: { [`user=a&password=${S}`]: '' } } }],
  ['data key json', { request: { data: { [`{"password":"${S}"}`]: '' } } }],
  ['env', { request: { env: { SMTP_PASS: S, REDIS_AUTH: S, DATABASE_URL: `mysql://u:${S}@h/x` } } }],
  [
    'vars',
    {
      exception: {
        values: [
          {
            type: 'E',
            value: 'x',
            stacktrace: {
              frames: [
                {
                  function: 'f',
                  vars: {
                    password: `'${S}'`,
                    self: `<User token='${S}'>`,
                    headers: `{'Authorization': 'Basic ${S}'}`,
                    kwargs: { api_key: S },
                    args: ['--password', S],
                    argv: ['x', '-u', 'a', '--token', S],
                    tup: `('password', '${S}')`,
                  },
                  context_line: `password: str = "${S}"`,
                  pre_context: [`define('DB_PASSWORD', '${S}');`, `const apiToken: string = '${S}'`],
                },
              ],
            },
          },
        ],
      },
    },
  ],
  [
    'vars that Python wrote',
    {
      exception: {
        values: [
          {
            type: 'E',
            stacktrace: {
              frames: [
                {
                  function: 'f',
                  vars: {
                    argv: ["'prog'", "'a'", "'b'", "'--token'", `'${S}'`],
                    headers: [
                      ["b'cookie'", `b'a=${S}'`],
                      ["b'x-real-ip'", `b'${S}'`],
                    ],
                    "b'pin'": S,
                  },
                },
              ],
            },
          },
        ],
      },
    },
  ],
  ['sys.argv', { extra: { 'sys.argv': ['prog', 'a', '--db-password', S] } }],
  ['cmd', { message: `Command '['mysqldump', '--password', '${S}']' failed; also mysql --password ${S} x` }],
  [
    'crumb url',
    {
      breadcrumbs: {
        values: [
          {
            category: 'http',
            data: { url: `https://x/?access_token=${S}`, headers: { authorization: S } },
            message: `login password=${S}`,
          },
        ],
      },
    },
  ],
  [
    'crumb console',
    { breadcrumbs: [{ category: 'console', message: 'x', data: { arguments: ['password', S] } }] },
  ],
  ['rawHeaders', { extra: { rawHeaders: ['Host', 'x', 'Authorization', S, 'Accept', 'y'] } }],
  ['tags pairs', { tags: [['auth_token', S]] }],
  ['user', { user: { id: 1, token: S, data: { session: S } } }],
  ['contexts', { contexts: { app: { secretKey: S }, http: { 'set-cookie': S } } }],
  [
    'exception value',
    { exception: [{ type: 'E', value: `could not login with {"user":"x","pin":12349,"passcode":"${S}"}` }] },
  ],
  ['exc value obj', { exception: [{ type: 'E', value: { password: S } }] }],
  ['logentry params', { logentry: { message: 'login %s', params: [S], formatted: `login password=${S}` } }],
  ['otp', { extra: { otp: S, totp_code: S, mfa_code: S, recovery_codes: [S] } }],
  [
    'name/val',
    {
      extra: {
        h: [
          { name: 'Authorization', value: S },
          { key: 'token', val: S },
          { header: 'cookie', content: S },
        ],
      },
    },
  ],
  ['pgp', { message: `-----BEGIN PGP PRIVATE KEY BLOCK-----\n${S}` }],
  ['xml', { message: `<user><password>${S}</password><apiKey>${S}</apiKey></user>` }],
  ['openai', { message: `bad key sk-proj-abcdefghij${S}abcdefghij` }],
  ['google', { request: { url: `https://maps/?key=AIzaSyAbcdefghijklmnopqrst${S}abcde` } }],
  [
    'multipart',
    { request: { data: `--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n${S}\r\n--x--` } },
  ],
  ['curl', { message: `curl -H 'Authorization: Bearer ${S}' -H "X-Auth-Token: ${S}" https://x` }],
  ['fingerprint', { fingerprint: [`token=${S}`] }],
  ['transaction', { transaction: `/reset?token=${S}` }],
  ['logger', { message: 'x', logger: `password=${S}` }],
  ['slack', { message: `POST https://hooks.slack.com/services/T000/B000/${S}` }],
  ['modules', { modules: { x: `git+https://bob:${S}@github.com/x` } }],
  ['card+date', { message: 'card 4111 1111 1111 1111 12/25 123' }],
  ['card+cvv', { message: 'card 4111111111111111 123' }],
  ['card two', { message: '5100 4111 1111 1111 1111' }],
  ['yaml', { message: `db:\n  password: ${S}\n  token: ${S}` }],
  ['basic colon', { extra: { cmd: `curl -u admin:${S} https://x` } }],
  ['url encoded json', { request: { query_string: `q=%7B%22password%22%3A%22${S}%22%7D` } }],
  [
    'deep escaped',
    { extra: { x: JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ token: S, c: 1 }) }) }) } },
  ],
])('no secret is kept of %s', (_, event) => {
  const kept = JSON.stringify(
    outlineEvent(event, { ...arrival, eventId: 'a'.repeat(32) }, 500_000).complete(),
  );
  expect(kept).not.toMatch(/hunTer2q9Z|1111|12349/);
  expect(kept).toContain('[removed]');
});

test.each([
  ['Unexpected token: } in JSON'],
  ['session started: 2026-10-30'],
  ['Token::Invalid at 12:30:11'],
  ['token expired: 10.0.0.1 said so'],
  ['http://localhost:3000/@vite/client'],
  ['https://cdn.example.com/npm/vue@2.6.1'],
  ['expected "tokens" in [a, b]'],
])('%j is kept as it is', (message) => {
  expect(outlineEvent({ message }, arrival, 500_000).complete().message).toBe(message);
});
