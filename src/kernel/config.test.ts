/** The settings: defaults, every rule, secret files, and all problems at once without a secret shown. */
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig, SettingsError, settings, urlOf } from './config.ts';

const noFiles = (): string => {
  throw Object.assign(new Error('no such file: hush'), { code: 'ENOENT' });
};

function problemsOf(
  env: Record<string, string | undefined>,
  readFile: () => string = noFiles,
): readonly string[] {
  try {
    readConfig(env, readFile);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

test('an empty environment gives the defaults', () => {
  expect(readConfig({})).toEqual({
    url: 'http://127.0.0.1:8080',
    host: '127.0.0.1',
    port: 8080,
    trustedProxies: [],
    metricsAllowlist: ['127.0.0.0/8', '::1'],
    data: resolve('data'),
    storages: new Map([['default', resolve('data', 'repositories')]]),
    files: resolve('data'),
    objectStore: undefined,
    databaseUrl: undefined,
    secretKey: undefined,
    rootPassword: undefined,
    rootToken: undefined,
    smtpUrl: undefined,
    mailFrom: undefined,
    httpsProxy: undefined,
    httpProxy: undefined,
    noProxy: '',
    tier: 'ultimate',
    offering: 'self_managed',
    paginationCountLimit: 10_000,
    maximumOffset: 50_000,
    backupRecipients: [],
    backupSchedule: '30 2 * * *',
    backups: undefined,
    backupsKept: 7,
    gitRealm: 'GitLab',
    oauthResponseIss: false,
    maximumUrlLength: 8190,
  });
});

test.each([
  [{ ASHLAR_URL: 'https://ashlar.example/' }, { url: 'https://ashlar.example' }],
  [{ ASHLAR_URL: 'HTTP://Ashlar.example:80' }, { url: 'http://ashlar.example' }],
  [{ ASHLAR_URL: '' }, { url: 'http://127.0.0.1:8080' }],
  [{ HTTPS_PROXY: 'proxy.example:3128' }, { httpsProxy: 'http://proxy.example:3128/' }],
  [
    { HTTP_PROXY: 'http://a.example', http_proxy: 'https://me:pass@b.example/' },
    { httpProxy: 'https://me:pass@b.example/' },
  ],
  [{ NO_PROXY: 'a.example', no_proxy: '' }, { noProxy: 'a.example' }],
  [{ ASHLAR_PORT: '3000' }, { url: 'http://127.0.0.1:3000', port: 3000 }],
  [{ ASHLAR_PORT: '0' }, { url: undefined, port: 0 }],
  [
    { ASHLAR_PORT: '0', ASHLAR_URL: 'http://a.example' },
    { url: 'http://a.example', port: 0 },
  ],
  [{ ASHLAR_HOST: '::1' }, { url: 'http://[::1]:8080', host: '::1' }],
  [{ ASHLAR_HOST: '0.0.0.0' }, { url: 'http://127.0.0.1:8080', host: '0.0.0.0' }],
  [
    { ASHLAR_TRUSTED_PROXIES: '10.0.0.0/8, ::1  fd00::/8' },
    { trustedProxies: ['10.0.0.0/8', '::1', 'fd00::/8'] },
  ],
  [
    { ASHLAR_DATA: '/var/lib/ashlar/../ashlar' },
    { data: '/var/lib/ashlar', storages: new Map([['default', '/var/lib/ashlar/repositories']]) },
  ],
  [
    { ASHLAR_STORAGES: 'default:/srv/a, fast:/mnt/b/' },
    {
      storages: new Map([
        ['default', '/srv/a'],
        ['fast', '/mnt/b'],
      ]),
    },
  ],
  [
    { ASHLAR_TIER: 'free', ASHLAR_OFFERING: 'hosted' },
    { tier: 'free', offering: 'hosted' },
  ],
  [{ ASHLAR_OAUTH_RESPONSE_ISS: 'on' }, { oauthResponseIss: true }],
  [{ ASHLAR_GIT_REALM: 'Our code (git)' }, { gitRealm: 'Our code (git)' }],
  [{ ASHLAR_MAX_URL_LENGTH: '1048576' }, { maximumUrlLength: 1_048_576 }],
  [{ SMTP_URL: 'smtps://u:p@mail.example' }, { smtpUrl: 'smtps://u:p@mail.example' }],
  [{ ASHLAR_FILES: '/mnt/files/' }, { files: '/mnt/files' }],
  [
    { ASHLAR_OBJECT_STORE: 'https://k:s%2F@store.example/bucket?region=eu-west-1' },
    { objectStore: 'https://k:s%2F@store.example/bucket?region=eu-west-1' },
  ],
  [
    {
      ASHLAR_BACKUPS: '/mnt/backups/',
      ASHLAR_BACKUP_SCHEDULE: '*/15  1-5 * * 0,6',
      ASHLAR_BACKUP_KEEP: '3',
      ASHLAR_BACKUP_RECIPIENTS: `age1${'q'.repeat(58)}, age1${'p'.repeat(58)}`,
    },
    {
      backups: '/mnt/backups',
      backupSchedule: '*/15 1-5 * * 0,6',
      backupsKept: 3,
      backupRecipients: [`age1${'q'.repeat(58)}`, `age1${'p'.repeat(58)}`],
    },
  ],
  [{ MAIL_FROM: 'ashlar@mail.example' }, { mailFrom: 'ashlar@mail.example' }],
  [{ DATABASE_URL: 'postgres://u:p@a:1,b:2/db' }, { databaseUrl: 'postgres://u:p@a:1,b:2/db' }],
  [
    { DATABASE_URL: 'postgres://u@/db?host=/run&port=1' },
    { databaseUrl: 'postgres://u@/db?host=/run&port=1' },
  ],
  [{ ASHLAR_METRICS_ALLOWLIST: '192.0.2.0/24 ::1' }, { metricsAllowlist: ['192.0.2.0/24', '::1'] }],
])('%j is read as %j', (env, expected) => {
  expect(readConfig(env)).toMatchObject(expected);
});

test.each([
  ['ASHLAR_BACKUPS', 'backups'],
  ['ASHLAR_BACKUP_SCHEDULE', '30 2 * *'],
  ['ASHLAR_BACKUP_SCHEDULE', '60 2 * * *'],
  ['ASHLAR_BACKUP_SCHEDULE', '30 2 0 * *'],
  ['ASHLAR_BACKUP_SCHEDULE', '30 5-2 * * *'],
  ['ASHLAR_BACKUP_SCHEDULE', '*/0 2 * * *'],
  ['ASHLAR_BACKUP_SCHEDULE', '@daily'],
  ['ASHLAR_BACKUP_KEEP', '0'],
  ['ASHLAR_BACKUP_RECIPIENTS', 'AGE-SECRET-KEY-1'],
  ['ASHLAR_URL', 'ashlar.example'],
  ['ASHLAR_URL', 'ftp://ashlar.example'],
  ['ASHLAR_URL', 'https://ashlar.example/prefix'],
  ['ASHLAR_URL', 'https://root:hush@ashlar.example'],
  ['ASHLAR_URL', 'https://ashlar.example?a=1'],
  ['ASHLAR_GIT_REALM', 'a "quoted" realm'],
  ['ASHLAR_GIT_REALM', 'a\\b'],
  ['ASHLAR_GIT_REALM', 'é'],
  ['ASHLAR_OAUTH_RESPONSE_ISS', 'true'],
  ['ASHLAR_HOST', '127.0.0.1:8080'],
  ['ASHLAR_HOST', '999.0.0.1'],
  ['ASHLAR_PORT', '65536'],
  ['ASHLAR_PORT', '-1'],
  ['ASHLAR_PORT', '8080.5'],
  ['ASHLAR_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['ASHLAR_TRUSTED_PROXIES', '::1/129'],
  ['ASHLAR_TRUSTED_PROXIES', '10.0.0.1,proxy.example'],
  ['ASHLAR_TRUSTED_PROXIES', '10.0.0.0/'],
  ['ASHLAR_STORAGES', 'default:repositories'],
  ['ASHLAR_STORAGES', '/srv/repositories'],
  ['ASHLAR_STORAGES', 'default:/srv/a,/srv/b'],
  ['ASHLAR_STORAGES', 'fast:/srv/a'],
  ['ASHLAR_FILES', 'files'],
  ['ASHLAR_OBJECT_STORE', 's3://bucket'],
  ['ASHLAR_OBJECT_STORE', 'https://store.example/bucket'],
  ['ASHLAR_OBJECT_STORE', 'https://k:hush@store.example/bucket?prefix=a'],
  ['ASHLAR_OBJECT_STORE', 'https://k:hush@store.example/bucket#a'],
  ['ASHLAR_TIER', 'gold'],
  ['ASHLAR_OFFERING', 'Hosted'],
  ['ASHLAR_PAGINATION_COUNT_LIMIT', '1e3'],
  ['ASHLAR_MAX_URL_LENGTH', '1048577'],
  ['ASHLAR_METRICS_ALLOWLIST', 'everybody'],
  ['DATABASE_URL', 'mysql://root:hush@127.0.0.1/db'],
  ['DATABASE_URL', 'postgres://root:hush@127.0.0.1/db?host=db.example'],
  ['DATABASE_URL', 'postgres://root:hush@127.0.0.1/db?host=/run/postgresql&sslmode=require'],
  ['SMTP_URL', 'mail.example:25'],
  ['SMTP_URL', 'https://root:hush@mail.example'],
  ['SMTP_URL', 'smtp://'],
  ['HTTPS_PROXY', 'socks5://root:hush@proxy.example'],
  ['HTTP_PROXY', 'http://'],
  ['HTTP_PROXY', 'hush hush'],
  ['MAIL_FROM', 'Ashlar <ashlar@mail.example>'],
  ['MAIL_FROM', 'a@mail.example\r\nBcc: b@mail.example'],
  ['ASHLAR_SECRET_KEY', 'hush'],
  ['ASHLAR_ROOT_PASSWORD', 'hush'],
  ['ASHLAR_ROOT_TOKEN', 'hush hush hush'],
])('%s=%s is one problem that names the setting', (name, value) => {
  const problems = problemsOf({ [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${name} must `));
  expect(problems[0]).not.toContain('hush');
});

test.each(['default:/srv/a,default:/srv/b', 'default:/srv/a,fast:/srv/a/'])(
  'ASHLAR_STORAGES=%s is refused',
  (value) => {
    expect(problemsOf({ ASHLAR_STORAGES: value })).toHaveLength(1);
  },
);

test('all problems are reported at once', () => {
  const env = { ASHLAR_PORT: 'x', ASHLAR_TIER: 'x', ASHLAR_SECRET_KEY: 'hush', ASHLAR_PROT: '1' };
  expect(() => readConfig(env)).toThrow(/ASHLAR_PROT.*ASHLAR_PORT.*ASHLAR_SECRET_KEY.*ASHLAR_TIER/s);
  expect(problemsOf(env)).toHaveLength(4);
});

test.each([
  ['ASHLAR_PROT', 'ASHLAR_PORT'],
  ['ASHLAR_ROOT_PASS', 'ASHLAR_ROOT_PASSWORD'],
  ['ASHLAR_URL_FILE', 'ASHLAR_URL'],
  ['ASHLAR_MAXIMUM_URL_LENGTH', 'ASHLAR_MAX_URL_LENGTH'],
])('the unknown name %s is a problem that names %s', (name, nearest) => {
  expect(problemsOf({ [name]: 'hush' })).toEqual([`${name} is not a setting: is ${nearest} meant?`]);
});

test('variables of other programs are none of our business', () => {
  expect(problemsOf({ PATH: '/bin', PORT: 'x', MY_ASHLAR_PORT: 'x' })).toEqual([]);
});

describe('secrets in files', () => {
  const secrets = Object.values(settings).filter(({ secret }) => secret);

  test('are those eight', () => {
    expect(secrets.map(({ name }) => name)).toEqual([
      'DATABASE_URL',
      'ASHLAR_SECRET_KEY',
      'ASHLAR_ROOT_PASSWORD',
      'ASHLAR_ROOT_TOKEN',
      'ASHLAR_OBJECT_STORE',
      'SMTP_URL',
      'HTTPS_PROXY',
      'HTTP_PROXY',
    ]);
  });

  test('are read without the newline at their end', () => {
    const files: Record<string, string> = {
      '/run/key': `${'k'.repeat(32)}\n`,
      '/run/password': 'in two words\r\n',
    };
    const env = { ASHLAR_SECRET_KEY_FILE: '/run/key', ASHLAR_ROOT_PASSWORD_FILE: '/run/password' };
    expect(readConfig(env, (path) => files[path] ?? '')).toMatchObject({
      secretKey: 'k'.repeat(32),
      rootPassword: 'in two words',
    });
  });

  test.each(secrets.map(({ name }) => name))(
    '%s and its file together, or a bad file, are problems',
    (name) => {
      const both = problemsOf({ [name]: 'hush', [`${name}_FILE`]: '/run/hush' });
      const missing = problemsOf({ [`${name}_FILE`]: '/run/hush' });
      const empty = problemsOf({ [`${name}_FILE`]: '/run/hush' }, () => '\n');
      const wrong = problemsOf({ [`${name}_FILE`]: '/run/hush' }, () => 'hush\nhush');
      expect(both).toEqual([`${name} and ${name}_FILE are both given: keep one`]);
      expect(missing).toEqual([`${name} cannot be read from the file that its _FILE names (ENOENT)`]);
      expect(empty).toEqual([`${name} is empty in the file that its _FILE names`]);
      expect(wrong).toHaveLength(1);
      expect([...both, ...missing, ...empty, ...wrong].join()).not.toContain('hush');
    },
  );
});

test.each([
  ['127.0.0.1', 80, 'http://127.0.0.1'],
  ['::', 8080, 'http://127.0.0.1:8080'],
  ['fe80::1%eth0', 8080, 'http://[fe80::1]:8080'],
  ['localhost', 4000, 'http://localhost:4000'],
])('urlOf(%s, %i)', (host, port, expected) => {
  expect(urlOf(host, port)).toBe(expected);
});
