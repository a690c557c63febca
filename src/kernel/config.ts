/** Settings: one table, and the only reader of the environment. docs/settings.md is generated from it. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute, join, resolve } from 'node:path';

export const tiers = ['free', 'premium', 'ultimate'] as const;
export type Tier = (typeof tiers)[number];

export const offerings = ['self_managed', 'hosted'] as const;
export type Offering = (typeof offerings)[number];

export type Setting<T> = {
  name: string;
  /** Documentation, in Markdown. */
  doc: string;
  /** Read when the variable is unset or empty. A setting without it may be undefined. */
  default: string | undefined;
  /** The effect of a missing value, for the documentation of settings without a default. */
  otherwise?: string;
  /** Whether the name is also read in lower case, which then goes first. */
  lowerCase?: boolean;
  /** Secret values may come from a file, and are never shown. */
  secret: boolean;
  /** The value, or an error whose message completes "NAME …" and shows nothing secret. */
  parse: (text: string) => T;
};

const withDefault = <T>(setting: Omit<Setting<T>, 'secret'> & { default: string }) => ({
  ...setting,
  secret: false,
});
const optional = <T>(setting: Omit<Setting<T>, 'secret' | 'default'> & { otherwise: string }) => ({
  ...setting,
  default: undefined,
  secret: false,
});
const secret = <T>(setting: Omit<Setting<T>, 'secret' | 'default'> & { otherwise: string }) => ({
  ...setting,
  default: undefined,
  secret: true,
});

const wholeNumber = (minimum: number, maximum: number) => (text: string) => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
};

const oneOf =
  <T extends string>(choices: readonly T[]) =>
  (text: string): T => {
    const choice = choices.find((each) => each === text);
    if (choice !== undefined) return choice;
    throw new Error(`must be one of ${choices.join(', ')}`);
  };

/** A pattern for the whole value, and its description. */
const text = (pattern: RegExp, rule: string) => (value: string) => {
  if (pattern.test(value)) return value;
  throw new Error(rule);
};

/** Links, cookies and the issuer use the origin alone: anything after it would be lost silently. */
function parseOrigin(value: string): string {
  const url = URL.parse(value);
  const web = url?.protocol === 'http:' || url?.protocol === 'https:';
  const bare = url?.pathname === '/' && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (url && web && bare) return url.origin;
  throw new Error(
    'must be http:// or https://, a host and if need be a port, without path, query or password',
  );
}

function parseHost(value: string): string {
  const named = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(value) && URL.canParse(`http://${value}`);
  if (isIP(value) !== 0 || named) return value;
  throw new Error('must be an address or a host name, without port or brackets');
}

function isNetwork(value: string): boolean {
  const [address = '', prefix = '0', ...rest] = value.split('/');
  const family = address.includes('%') ? 0 : isIP(address);
  return (
    family !== 0 &&
    rest.length === 0 &&
    /^\d{1,3}$/.test(prefix) &&
    Number(prefix) <= (family === 4 ? 32 : 128)
  );
}

function parseNetworks(value: string): string[] {
  const networks = value.split(/[\s,]+/).filter((each) => each !== '');
  const wrong = networks.filter((each) => !isNetwork(each));
  if (wrong.length === 0) return networks;
  throw new Error(
    `must list addresses or networks such as 10.0.0.0/8, which these are not: ${wrong.join(', ')}`,
  );
}

/** The folder of a socket is in `?host=`, with nothing but the port beside it: both drivers read that. */
function parseDatabaseUrl(value: string): string {
  if (!/^postgres(ql)?:\/\/\S+$/.test(value)) throw new Error('must start with postgres:// or postgresql://');
  const query = new URLSearchParams(/\?([^#]*)/.exec(value)?.[1] ?? '');
  const host = query.get('host');
  if (host === null) return value;
  if (!host.startsWith('/'))
    throw new Error('must have its host before the path; ?host= may name the folder of a socket');
  const others = [...query.keys()].filter((name) => name !== 'host' && name !== 'port');
  if (others.length === 0) return value;
  throw new Error(`must have nothing but port beside ?host=/folder, and has ${others.join(', ')}`);
}

/** Folders by name; `default` has everything that never moved. */
function parseStorages(value: string): Map<string, string> {
  const storages = new Map<string, string>();
  for (const part of value.split(',').map((each) => each.trim())) {
    const [, name = '', folder = ''] = /^([a-z0-9][\w.-]{0,63}):(.+)$/i.exec(part) ?? [];
    if (name === '' || !isAbsolute(folder))
      throw new Error(`must list names and absolute folders, which this is not: ${part}`);
    if (storages.has(name)) throw new Error(`names ${name} twice`);
    const same = [...storages].find(([, other]) => resolve(other) === resolve(folder));
    if (same) throw new Error(`gives ${same[0]} and ${name} one folder`);
    storages.set(name, resolve(folder));
  }
  if (!storages.has('default')) throw new Error('must have one named default');
  return storages;
}

function parseFolder(value: string): string {
  if (isAbsolute(value)) return resolve(value);
  throw new Error('must be an absolute folder');
}

/** The largest number of each field; the least is 0, or 1 for days and months. */
const CRON_FIELDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;

function parseSchedule(value: string): string {
  const fields = value.trim().split(/\s+/);
  const isField = (field: string, [least, most]: readonly [number, number]): boolean =>
    field.split(',').every((each) => {
      const [, range = '', step = '1'] = /^(\*|\d{1,2}(?:-\d{1,2})?)(?:\/(\d{1,2}))?$/.exec(each) ?? [];
      const [from = Number.NaN, to = from] = range === '*' ? [least, most] : range.split('-').map(Number);
      return from >= least && to <= most && from <= to && Number(step) >= 1;
    });
  if (
    fields.length === CRON_FIELDS.length &&
    CRON_FIELDS.every((bounds, at) => isField(fields[at] ?? '', bounds))
  )
    return fields.join(' ');
  throw new Error('must have five fields as cron has them, such as 30 2 * * *');
}

function parseRecipients(value: string): string[] {
  const recipients = value.split(/[\s,]+/).filter((each) => each !== '');
  const wrong = recipients.filter((each) => !/^age1[a-z0-9]{20,}$/.test(each));
  if (wrong.length === 0) return recipients;
  throw new Error(`must list keys of age, which begin with age1, and these do not: ${wrong.join(', ')}`);
}

function parseObjectStore(value: string): string {
  const url = URL.parse(value);
  const isWhole = url && /^https?:$/.test(url.protocol) && url.username !== '' && url.password !== '';
  if (isWhole && url.hash === '' && [...url.searchParams.keys()].every((name) => name === 'region'))
    return value;
  throw new Error(
    'must be https:// or http://, a key, its secret, a host and a bucket, with nothing but region behind them',
  );
}

function parseMailServer(value: string): string {
  const url = URL.parse(value);
  if (url && (url.protocol === 'smtp:' || url.protocol === 'smtps:') && url.hostname !== '') return value;
  throw new Error('must start with smtp:// or smtps:// and name a host');
}

/** Other programs take a proxy without its protocol too. */
function parseProxy(value: string): string {
  const url = URL.parse(/^[a-z0-9+.-]+:\/\//i.test(value) ? value : `http://${value}`);
  if (url && /^https?:$/.test(url.protocol) && url.hostname !== '' && !/\s/.test(value)) return url.href;
  throw new Error('must be http:// or https:// and a host');
}

/** Every setting, by the name it has in Config. */
export const settings = {
  url: optional({
    name: 'ASHLAR_URL',
    otherwise: '`http://127.0.0.1:8080`, or what `ASHLAR_HOST` and `ASHLAR_PORT` say',
    doc: 'The public address: mails, `web_url`, OAuth issuer, cookies (`Secure` when it is https).',
    parse: parseOrigin,
  }),
  host: withDefault({
    name: 'ASHLAR_HOST',
    default: '127.0.0.1',
    doc: 'The address to listen on.',
    parse: parseHost,
  }),
  port: withDefault({
    name: 'ASHLAR_PORT',
    default: '8080',
    doc: 'The port to listen on; 0 picks a free one and prints it.',
    parse: wholeNumber(0, 65_535),
  }),
  trustedProxies: withDefault({
    name: 'ASHLAR_TRUSTED_PROXIES',
    default: '',
    otherwise: 'none',
    doc: 'Addresses and networks, separated by commas, whose `X-Forwarded-*` headers are believed.',
    parse: parseNetworks,
  }),
  metricsAllowlist: withDefault({
    name: 'ASHLAR_METRICS_ALLOWLIST',
    default: '127.0.0.0/8, ::1',
    doc: 'Addresses and networks, separated by commas, that may read `/-/metrics`; others get 404, and so does what an untrusted proxy forwards.',
    parse: parseNetworks,
  }),
  data: withDefault({
    name: 'ASHLAR_DATA',
    default: './data',
    doc: 'The folder of the embedded database, repositories, mail and keys.',
    parse: (value: string) => resolve(value),
  }),
  databaseUrl: secret({
    name: 'DATABASE_URL',
    otherwise: 'unset: an embedded PostgreSQL in the data folder',
    doc: 'Any PostgreSQL from 15 on, also at a Unix socket: `postgres://user@/database?host=/folder`. Any number of processes may share one.',
    parse: parseDatabaseUrl,
  }),
  secretKey: secret({
    name: 'ASHLAR_SECRET_KEY',
    otherwise: 'made in the data folder',
    doc: 'Seals secrets that must be read again; 32 characters or more, the same in all processes on one database.',
    parse: text(/^.{32,}$/, 'must be one line of 32 characters or more'),
  }),
  rootPassword: secret({
    name: 'ASHLAR_ROOT_PASSWORD',
    otherwise: 'random, in a file of mode 600 in the data folder',
    doc: 'The password of `root`, the first administrator, at first start; 8 to 128 characters.',
    parse: text(/^.{8,128}$/u, 'must be one line of 8 to 128 characters'),
  }),
  rootToken: secret({
    name: 'ASHLAR_ROOT_TOKEN',
    otherwise: 'unset: no token',
    doc: 'At first start, a personal access token of `root` with this value and every scope; 8 characters or more.',
    parse: text(/^[\x21-\x7e]{8,255}$/, 'must be 8 to 255 visible ASCII characters without spaces'),
  }),
  storages: optional({
    name: 'ASHLAR_STORAGES',
    otherwise: 'one, `default`, at `repositories` in the data folder',
    doc: 'Where repositories are, as names and folders: `default:/srv/repositories,fast:/mnt/fast`. All processes on one database reach all of them; `default` must be among them.',
    parse: parseStorages,
  }),
  files: optional({
    name: 'ASHLAR_FILES',
    otherwise: 'the data folder',
    doc: 'Where all other files are (of texts, artifacts, packages, images, and the traces of jobs that run): in `blobs` and `ci` below this folder, which all processes on one database reach.',
    parse: parseFolder,
  }),
  objectStore: secret({
    name: 'ASHLAR_OBJECT_STORE',
    otherwise: 'unset: files stay in `ASHLAR_FILES`',
    doc: 'A bucket that speaks the protocol of S3: `https://key:secret@host/bucket?region=eu-west-1`, key and secret percent-encoded. Files are written to `ASHLAR_FILES` and moved there within a minute; what was there before is moved, too.',
    parse: parseObjectStore,
  }),
  backups: optional({
    name: 'ASHLAR_BACKUPS',
    otherwise: 'unset: backups are made by `ashlar backup` alone',
    doc: 'A folder that gets a backup of everything as `ASHLAR_BACKUP_SCHEDULE` says, which all processes on one database reach. Better on another disk than the data.',
    parse: parseFolder,
  }),
  backupSchedule: withDefault({
    name: 'ASHLAR_BACKUP_SCHEDULE',
    default: '30 2 * * *',
    doc: 'When: minute, hour, day of the month, month and day of the week (UTC), as cron has them.',
    parse: parseSchedule,
  }),
  backupsKept: withDefault({
    name: 'ASHLAR_BACKUP_KEEP',
    default: '7',
    doc: 'So many of the backups in `ASHLAR_BACKUPS` are kept: the latest, and what they borrow from.',
    parse: wholeNumber(1, 10_000),
  }),
  backupRecipients: withDefault({
    name: 'ASHLAR_BACKUP_RECIPIENTS',
    default: '',
    otherwise: 'unset: they are not encrypted, and contain the secret key',
    doc: 'Keys of age, `age1…`, separated by commas: the backups in `ASHLAR_BACKUPS` are encrypted for each of them.',
    parse: parseRecipients,
  }),
  smtpUrl: secret({
    name: 'SMTP_URL',
    otherwise: 'unset: mails become files in `mail` in the data folder',
    doc: 'The server that takes mails: `smtp://user:password@host:587`, or `smtps://` for TLS from the first byte.',
    parse: parseMailServer,
  }),
  mailFrom: optional({
    name: 'MAIL_FROM',
    otherwise: '`ashlar@` and the host of `ASHLAR_URL`',
    doc: 'The address that mails come from.',
    parse: text(
      /^[^\s@<>()[\],;:"\\]{1,64}@[a-z0-9][a-z0-9.-]{0,252}$/i,
      'must be one mail address, without a name',
    ),
  }),
  httpsProxy: secret({
    name: 'HTTPS_PROXY',
    lowerCase: true,
    otherwise: '`HTTP_PROXY`',
    doc: 'The proxy of calls to other services by https: `http://user:password@proxy.example:3128`. Addresses, and names with what they stand for here, are judged by the rules for local networks before the proxy is asked; it resolves them anew, and names that only it knows are left to it: it must not lead to networks that are not to be called.',
    parse: parseProxy,
  }),
  httpProxy: secret({
    name: 'HTTP_PROXY',
    lowerCase: true,
    otherwise: 'none',
    doc: 'The same by http.',
    parse: parseProxy,
  }),
  noProxy: withDefault({
    name: 'NO_PROXY',
    lowerCase: true,
    default: '',
    otherwise: 'none',
    doc: 'Hosts that are called without a proxy, separated by commas: names, which mean their subdomains too, and addresses, both also with a port; `*` for all. This machine always is.',
    parse: (value: string) => value,
  }),
  tier: withDefault({
    name: 'ASHLAR_TIER',
    default: 'ultimate',
    doc: '`free`, `premium` or `ultimate`. Lowering it hides and keeps what belongs to a higher one; raising it shows that again.',
    parse: oneOf(tiers),
  }),
  offering: withDefault({
    name: 'ASHLAR_OFFERING',
    default: 'self_managed',
    doc: '`self_managed`, or `hosted`: no storage moves of groups, project access tokens from Premium on, no total headers.',
    parse: oneOf(offerings),
  }),
  paginationCountLimit: withDefault({
    name: 'ASHLAR_PAGINATION_COUNT_LIMIT',
    default: '10000',
    doc: 'A list of more records than this has no totals and no `rel="last"`.',
    parse: wholeNumber(0, 1_000_000_000),
  }),
  maximumOffset: withDefault({
    name: 'ASHLAR_MAX_OFFSET',
    default: '50000',
    doc: 'Where keyset pagination exists, pages by offset end after so many records with 405; 0 for no limit.',
    parse: wholeNumber(0, 1_000_000_000),
  }),
  gitRealm: withDefault({
    name: 'ASHLAR_GIT_REALM',
    default: 'GitLab',
    doc: 'The realm in which git is asked for a name and a password. Credential helpers know by the default what kind of server this is, and which tokens it takes.',
    parse: text(
      /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,64}$/,
      'must be 1 to 64 ASCII characters without quotes and backslashes',
    ),
  }),
  oauthResponseIss: withDefault({
    name: 'ASHLAR_OAUTH_RESPONSE_ISS',
    default: 'off',
    doc: '`on` names the issuer, `iss`, in answers to OAuth clients, and in the metadata that it does (RFC 9207). Some clients that were not told the issuer refuse an answer with it: next-auth 4 and @auth/core 0.34.',
    parse: (value: string) => oneOf(['on', 'off'])(value) === 'on',
  }),
  maximumUrlLength: withDefault({
    name: 'ASHLAR_MAX_URL_LENGTH',
    default: '8190',
    doc: 'A longer request line, in bytes, is answered with 414; at most 1048576.',
    parse: wholeNumber(1024, 1_048_576),
  }),
} as const satisfies Record<string, Setting<unknown>>;

export type Config = {
  /** The public origin, without a slash at its end. Undefined when the port is picked at listen time: see urlOf(). */
  url?: string | undefined;
  host: string;
  port: number;
  /** Addresses and CIDR networks, each valid. */
  trustedProxies: string[];
  /** Addresses and CIDR networks, each valid. */
  metricsAllowlist: string[];
  /** Absolute path. */
  data: string;
  databaseUrl?: string | undefined;
  secretKey?: string | undefined;
  rootPassword?: string | undefined;
  rootToken?: string | undefined;
  /** Absolute folders by name; `default` is there. */
  storages: ReadonlyMap<string, string>;
  /** Absolute path. */
  files: string;
  /** With its secret. */
  objectStore?: string | undefined;
  /** Absolute path. Undefined: none are made by the clock. */
  backups?: string | undefined;
  /** Five fields of cron, UTC. */
  backupSchedule: string;
  backupsKept: number;
  /** Keys of age. */
  backupRecipients: string[];
  /** With its password. Undefined: mails are written to the data folder. */
  smtpUrl?: string | undefined;
  mailFrom?: string | undefined;
  /** Both with their passwords. */
  httpsProxy?: string | undefined;
  httpProxy?: string | undefined;
  noProxy: string;
  tier: Tier;
  offering: Offering;
  paginationCountLimit: number;
  /** Records that offset pagination reaches where keyset pagination exists; 0 for no limit. */
  maximumOffset: number;
  gitRealm: string;
  /** Whether OAuth responses name the issuer. */
  oauthResponseIss: boolean;
  maximumUrlLength: number;
};

/** Thrown when settings are wrong; one sentence for each, none of which shows a secret. */
export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The settings are wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
type ReadFile = (path: string, encoding: 'utf8') => string;

/** All settings from the environment and the files it names; throws one SettingsError with every problem. */
export function readConfig(env: Environment = process.env, readFile: ReadFile = readFileSync): Config {
  const problems = unknownNames(env);
  const texts = new Map<Setting<unknown>, string>();
  for (const setting of Object.values(settings)) {
    try {
      const value = textOf(setting, env, readFile);
      if (value === undefined) continue;
      setting.parse(value);
      texts.set(setting, value);
    } catch (error) {
      problems.push(`${setting.name} ${error instanceof Error ? error.message : error}`);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);

  const maybe = <T>(setting: Setting<T>): T | undefined => {
    const value = texts.get(setting);
    return value === undefined ? undefined : setting.parse(value);
  };
  const sure = <T>(setting: Setting<T> & { default: string }): T =>
    setting.parse(texts.get(setting) ?? setting.default);

  const host = sure(settings.host);
  const port = sure(settings.port);
  const data = sure(settings.data);
  return {
    url: maybe(settings.url) ?? (port === 0 ? undefined : urlOf(host, port)),
    host,
    port,
    trustedProxies: sure(settings.trustedProxies),
    metricsAllowlist: sure(settings.metricsAllowlist),
    data,
    storages: maybe(settings.storages) ?? new Map([['default', join(data, 'repositories')]]),
    files: maybe(settings.files) ?? data,
    objectStore: maybe(settings.objectStore),
    databaseUrl: maybe(settings.databaseUrl),
    secretKey: maybe(settings.secretKey),
    rootPassword: maybe(settings.rootPassword),
    rootToken: maybe(settings.rootToken),
    backups: maybe(settings.backups),
    backupSchedule: sure(settings.backupSchedule),
    backupsKept: sure(settings.backupsKept),
    backupRecipients: sure(settings.backupRecipients),
    smtpUrl: maybe(settings.smtpUrl),
    mailFrom: maybe(settings.mailFrom),
    httpsProxy: maybe(settings.httpsProxy),
    httpProxy: maybe(settings.httpProxy),
    noProxy: sure(settings.noProxy),
    tier: sure(settings.tier),
    offering: sure(settings.offering),
    paginationCountLimit: sure(settings.paginationCountLimit),
    maximumOffset: sure(settings.maximumOffset),
    gitRealm: sure(settings.gitRealm),
    oauthResponseIss: sure(settings.oauthResponseIss),
    maximumUrlLength: sure(settings.maximumUrlLength),
  };
}

/** The address of the host and port for a client on this machine. */
export function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const zoneless = reachable.replace(/%.*$/, '');
  return new URL(`http://${isIP(zoneless) === 6 ? `[${zoneless}]` : zoneless}:${port}`).origin;
}

/** The text of a setting; an empty variable counts as unset, because compose files cannot unset one. */
function textOf(setting: Setting<unknown>, env: Environment, readFile: ReadFile): string | undefined {
  const lower = setting.lowerCase ? env[setting.name.toLowerCase()] : undefined;
  const value = lower || env[setting.name] || undefined;
  const path = setting.secret ? env[`${setting.name}_FILE`] || undefined : undefined;
  if (path === undefined) return value;
  if (value !== undefined) throw new Error(`and ${setting.name}_FILE are both given: keep one`);
  const content = contentOf(path, readFile);
  if (content === '') throw new Error('is empty in the file that its _FILE names');
  return content;
}

/** Shows neither the path nor the error's text: the variable may have the secret itself instead of a path. */
function contentOf(path: string, readFile: ReadFile): string {
  try {
    return readFile(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Error(`cannot be read from the file that its _FILE names${code}`);
  }
}

/** Names of settings in other programs. */
const otherNames: Record<string, string> = {
  P: 'ASHLAR_PORT',
  LISTEN: 'ASHLAR_HOST',
  BIND: 'ASHLAR_HOST',
  ADDRESS: 'ASHLAR_HOST',
  D: 'ASHLAR_DATA',
  DIR: 'ASHLAR_DATA',
  DIRECTORY: 'ASHLAR_DATA',
  DATADIR: 'ASHLAR_DATA',
  DB: 'DATABASE_URL',
  DATABASE: 'DATABASE_URL',
  EXTERNAL_URL: 'ASHLAR_URL',
  PASSWORD: 'ASHLAR_ROOT_PASSWORD',
  TOKEN: 'ASHLAR_ROOT_TOKEN',
};

/** The setting that a command-line flag resembles; undefined without one. */
export function nearestSetting(flag: string): Setting<unknown> | undefined {
  const word = flag.replace(/^-+/, '').replaceAll('-', '_').toUpperCase();
  const wanted = otherNames[word] ?? word;
  const bare = (name: string) => name.replace(/^ASHLAR_/, '');
  const distances = Object.values(settings).map((setting) => {
    const names = [setting.name, bare(setting.name)];
    // `--data-dir` is nearer to DATA than to names that share more characters.
    const begins = wanted.length > 3 && names.some((name) => wanted.startsWith(`${name}_`));
    return { setting, distance: begins ? 1 : Math.min(...names.map((name) => editDistance(wanted, name))) };
  });
  const nearest = distances.toSorted((left, right) => left.distance - right.distance)[0];
  return nearest && nearest.distance <= wanted.length / 2 ? nearest.setting : undefined;
}

/** A mistyped name would otherwise be ignored silently. */
function unknownNames(env: Environment): string[] {
  const known = Object.values(settings).flatMap(({ name, secret }) =>
    secret ? [name, `${name}_FILE`] : [name],
  );
  const unknown = Object.keys(env).filter((name) => name.startsWith('ASHLAR_') && !known.includes(name));
  return unknown.map((name) => {
    const nearest = known.toSorted((left, right) => editDistance(name, left) - editDistance(name, right))[0];
    return `${name} is not a setting: is ${nearest} meant?`;
  });
}

/** The edit distance of two words: insertions, deletions and substitutions. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
