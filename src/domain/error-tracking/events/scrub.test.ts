/** Secrets by name and by shape, and texts that only look like secrets. */
import { describe, expect, test } from 'vitest';
import { createCleaner } from './cleaner.ts';
import { scrubSource, scrubText, verdictOf } from './scrub.ts';

test.each([
  ['password', 'secret'],
  ['user[password_confirmation]', 'secret'],
  ['passwd', 'secret'],
  ['MYSQL_PWD', 'secret'],
  ['dbPass', 'secret'],
  ['client_secret', 'secret'],
  ['accessToken', 'secret'],
  ['X-Api-Key', 'secret'],
  ['apikey', 'secret'],
  ['Authorization', 'secret'],
  ['HTTP_PROXY_AUTHORIZATION', 'secret'],
  ['X-Auth', 'secret'],
  ['Set-Cookie', 'secret'],
  ['csrfmiddlewaretoken', 'secret'],
  ['X-XSRF-TOKEN', 'secret'],
  ['session_id', 'secret'],
  ['PHPSESSID', 'secret'],
  ['connect.sid', 'secret'],
  ['card_number', 'secret'],
  ['creditCard', 'secret'],
  ['cvv', 'secret'],
  ['private-key', 'secret'],
  ['credentials', 'secret'],
  ['jwt', 'secret'],
  ['pin', 'secret'],
  ['REMOTE_ADDR', 'address'],
  ['X-Forwarded-For', 'address'],
  ['ip_address', 'address'],
  ['client_ip', 'address'],
  ['current_sign_in_ip', 'address'],
  ["b'x-forwarded-for'", 'address'],
  ["'pin'", 'secret'],
  ['Fly-Client-IP', 'address'],
  ['REDIS_AUTH', 'secret'],
  ['smtpPass', 'secret'],
  ['AccountKey', 'secret'],
  ['bypass', 'free'],
  ['desktop', 'free'],
  ['clip', 'free'],
  ['shopping_cart', 'free'],
  ['design', 'free'],
  ['cf-connecting-ip', 'address'],
  ['author', 'free'],
  ['shipping', 'free'],
  ['zip', 'free'],
  ['inside', 'free'],
  ['passenger', 'free'],
  ['compass', 'free'],
  ['monkey', 'free'],
  ['address', 'free'],
  ['discard', 'free'],
  ['constructor', 'free'],
])('%s is %s', (name, verdict) => {
  expect(verdictOf(name)).toBe(verdict);
});

const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----';

test.each([
  ['paid with 4111 1111 1111 1111 today', 'paid with [removed] today'],
  ['card=4111-1111-1111-1111', 'card=[removed]'],
  ['378282246310005', '[removed]'],
  ['5555555555554444 and 6011111111111117', '[removed] and [removed]'],
  ['order 4111111111111112', 'order 4111111111111112'],
  ['at 1700000000000', 'at 1700000000000'],
  ['trace 4111111111111111abcdef', 'trace 4111111111111111abcdef'],
  [`before ${key} after`, 'before [removed]'],
  ['postgres://ada:hunter2@db/walls', 'postgres://[removed]@db/walls'],
  ['https://ada:p@ss@example.com/x?a=1', 'https://[removed]@example.com/x?a=1'],
  [
    'https://example.com/?a=1&access_token=abc&b=2#c',
    'https://example.com/?a=1&access_token=[removed]&b=2#c',
  ],
  ['a=1;password=hunter2;b=3', 'a=1;password=[removed];b=3'],
  ['user%5Bpassword%5D=x&y=1', 'user%5Bpassword%5D=[removed]&y=1'],
  ["Server=db;Pwd='a b';", "Server=db;Pwd='[removed]';"],
  ['{"user":"ada","password":"a\\"b, c","n":1}', '{"user":"ada","password":"[removed]","n":1}'],
  ["{'token': 'abc', 'n': 1}", "{'token': '[removed]', 'n': 1}"],
  ['{:"api_key" => "abc"}', '{:"api_key" => "[removed]"}'],
  ['{\\"password\\":\\"abc\\"}', '{\\"password\\":\\"[removed]\\"}'],
  ['password: hunter2', 'password: [removed]'],
  ['Cookie: a=b; c=d\nAccept: */*', 'Cookie: [removed]\nAccept: */*'],
  ['Authorization: Basic YWRhOmh1bnRlcjI=', 'Authorization: [removed]'],
  ['sent Bearer abcdef0123456789', 'sent Bearer [removed]'],
  ['a bearer authentication scheme', 'a bearer authentication scheme'],
  ['glpat-abcdefghijklmnopqrst', '[removed]'],
  ['key AKIAIOSFODNN7EXAMPLE.', 'key [removed].'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def', '[removed]'],
  ['Unexpected token: } in JSON', 'Unexpected token: } in JSON'],
  ['class global-navigation-container', 'class global-navigation-container'],
  ['class sk-fading-circle-container', 'class sk-fading-circle-container'],
  ['npm_package_scripts_build_everything', 'npm_package_scripts_build_everything'],
  ['card 4111 1111 1111 1111 12/25 123', 'card [removed] 12/25 123'],
  ["{'token': b'abc', 'n': 1}", "{'token': b'[removed]', 'n': 1}"],
  ['{:secret=>"abc", :n=>1}', '{:secret=>"[removed]", :n=>1}'],
  ['{"tokens":["a","b"],"n":1}', '{"tokens":[removed],"n":1}'],
  ['next=%2Fx%3Ftoken%3Dabc%26a%3D1', 'next=%2Fx%3Ftoken%3D[removed]%26a%3D1'],
  ['<a><password>x</password></a>', '<a><password>[removed]</password></a>'],
  ['connect ECONNREFUSED 10.0.0.5:5432', 'connect ECONNREFUSED 10.0.0.5:5432'],
  ['user@example.com said so', 'user@example.com said so'],
])('%j is kept as %j', (text, kept) => {
  expect(scrubText(text)).toBe(kept);
});

test.each([
  ['  password = "hunter2"', '  password = "[removed]"'],
  ["  'api_key' => 'abc',", "  'api_key' => '[removed]',"],
  ['const dbPassword = `abc`;', 'const dbPassword = `[removed]`;'],
  ['  password = request.form["password"]', '  password = request.form["password"]'],
  ['  token = readToken(user, secret=key)', '  token = readToken(user, secret=key)'],
  ['  connect("mysql://root:root@db/x")', '  connect("mysql://[removed]@db/x")'],
])('the line %j is kept as %j', (line, kept) => {
  expect(scrubSource(line)).toBe(kept);
});

describe('a cleaner', () => {
  const clean = (value: unknown, most = 100_000) => createCleaner(false, most).json(value);

  test.each<[string, unknown, unknown]>([
    [
      'members',
      { a: 1, password: 'x', nested: { Token: { deep: 'x' } } },
      { a: 1, password: '[removed]', nested: { Token: '[removed]' } },
    ],
    [
      'that there was nothing',
      { password: null, token: '', secret: false },
      { password: null, token: '', secret: false },
    ],
    [
      'pairs',
      [
        ['Cookie', 'a=b'],
        ['Accept', '*/*'],
      ],
      [
        ['Cookie', '[removed]'],
        ['Accept', '*/*'],
      ],
    ],
    ['named values', { name: 'password', value: 'x' }, { name: 'password', value: '[removed]' }],
    [
      'numbers of cards',
      { paid: 4_111_111_111_111_111, at: 1_700_000_000_000 },
      { paid: '[removed]', at: 1_700_000_000_000 },
    ],
    ['addresses', { REMOTE_ADDR: '192.0.2.1', port: 80 }, { REMOTE_ADDR: '[removed]', port: 80 }],
    ['texts within', { list: ['ok', 'password=x'] }, { list: ['ok', 'password=[removed]'] }],
    ['nothing of a prototype', JSON.parse('{"__proto__":{"a":1},"__pro\\u0000to__":2,"b":1}'), { b: 1 }],
    ['halves of characters', 'a\0b\ud800c😀', 'ab\ufffdc😀'],
  ])('scrubs %s', (_, value, kept) => {
    expect(clean(value)).toEqual(kept);
    // A cached verdict gives the same result.
    expect(clean(value)).toEqual(kept);
  });

  test('keeps addresses where they are wanted', () => {
    expect(createCleaner(true, 1_000).json({ ip: '192.0.2.1', token: 'x' })).toEqual({
      ip: '192.0.2.1',
      token: '[removed]',
    });
  });

  test('cuts what is long, wide, deep, or too much of all', () => {
    const long = clean('x'.repeat(1e6));
    expect(long).toHaveLength(16_384);
    expect(
      Object.keys(Object(clean(Object.fromEntries(Array.from({ length: 900 }, (_, n) => [n, n]))))),
    ).toHaveLength(500);
    expect(clean(Array.from({ length: 900 }, () => 1))).toHaveLength(500);
    let deep: unknown = 'bottom';
    for (let n = 0; n < 100_000; n++) deep = [deep];
    expect(JSON.stringify(clean(deep))).toBe(`${'['.repeat(100)}"…"${']'.repeat(100)}`);
    const many = Array.from({ length: 400 }, () => ({ text: 'y'.repeat(1_000) }));
    expect(JSON.stringify(clean(many, 50_000)).length).toBeLessThan(60_000);
  });

  test('cuts a secret only after it is known for one', () => {
    const card = `${'x'.repeat(16_370)} 4111111111111111`;
    expect(clean(card)).not.toContain('411111');
    expect(createCleaner(false, 1_000).text(`paid 4111111111111111`, 12)).toBe('paid [remov…');
  });
});

test.each([
  ['"', 'a="'],
  ['a=', 'password='],
  ['\\', '"\\'],
  ['://', '://a:'],
  ['"a" ', '"token": "'],
  ['x-', 'x-key'],
  ['4111 ', '4 1 1 1 '],
  ['bearer ', 'bearer a'],
  ['-----BEGIN ', 'PRIVATE KEY-----'],
  ['eyJ-', 'eyJaaaaaaaaa.eyJ'],
  ['a', 'token'],
  [' ', 'password ='],
  ['token:', 'token:'],
  ['a', 'password="'],
  ['\\"', '"token":\\"'],
  ['<a ', '<password>'],
  ['--a ', '--token '],
  ['name="', 'name="a"\n'],
  ['%3D', 'token%3D'],
  ['a:', 'a:b@'],
])('comes to an end over %j and %j', (one, other) => {
  // Steps that grow with the square of the length would take minutes.
  const texts = [
    one.repeat(300_000 / one.length),
    other.repeat(300_000 / other.length),
    other + one.repeat(100_000),
  ];
  for (const text of texts) {
    expect(scrubText(text)).not.toBe('');
    expect(scrubSource(text)).not.toBe('');
  }
});
