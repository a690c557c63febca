/** Faults: which requests they are for, how often, and what becomes of the answer. Pure. */
import http from 'node:http';
import type * as Api from '../lab.cjs';

type Scope = 'method' | 'route' | 'share' | 'count';

/** For which requests: all, where nothing is said. */
export type FaultScope = Pick<Api.FaultRule, Scope>;
/** What becomes of a request; several may come together, such as a delay before a status. */
export type Fault = Omit<Api.FaultRule, Scope>;
export type FaultRule = FaultScope & Fault & { id: number };

/** What is wrong with a rule that somebody made, in words for them. */
export class BadFault extends Error {}

const MAX_DELAY_MS = 600_000;
const MAX_PATTERN = 500;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

type Check = (value: unknown) => string | undefined;

const wholeNumber =
  (least: number, most: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : `is a whole number from ${least} to ${most}`;
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value) ? undefined : `is one of ${values.map((each) => JSON.stringify(each)).join(', ')}`;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const checks: Readonly<Record<keyof (FaultScope & Fault), Check>> = {
  method: (value) =>
    METHODS.includes(String(value).toUpperCase()) ? undefined : `is one of ${METHODS.join(', ')}`,
  route: (value) =>
    typeof value === 'string' && value.startsWith('/') && value.length <= MAX_PATTERN
      ? undefined
      : 'begins with a slash, as in "/projects/:id/issues"',
  share: (value) =>
    typeof value === 'number' && value > 0 && value <= 1 ? undefined : 'is a number above 0, to 1',
  count: wholeNumber(1, 1_000_000),
  delay: wholeNumber(0, MAX_DELAY_MS),
  status: wholeNumber(200, 599),
  body: () => undefined,
  headers: (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([name, text]) =>
        /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof text === 'string' && /^[\t\x20-\x7e]*$/.test(text),
    )
      ? undefined
      : 'has names of headers with their texts',
  rate_limit: (value) =>
    isObject(value) &&
    wholeNumber(0, 1_000_000)(value.limit) === undefined &&
    wholeNumber(0, 86_400)(value.retry_after) === undefined &&
    Object.keys(value).length === 2
      ? undefined
      : 'has a limit, and retry_after in seconds',
  cut: oneOf('before', 'after', 'during'),
  slow: wholeNumber(1, 1_000_000_000),
  missing_totals: oneOf(true),
  stale: oneOf(true),
};

const effects: readonly (keyof Fault)[] = [
  'delay',
  'status',
  'rate_limit',
  'cut',
  'slow',
  'missing_totals',
  'stale',
];

/** Throws BadFault for what is no rule, or one that can do nothing. */
export function parseFault(value: unknown): FaultScope & Fault {
  if (!isObject(value)) throw new BadFault('a rule is a JSON object');
  for (const [name, given] of Object.entries(value)) {
    const check = Object.hasOwn(checks, name) ? checks[name as keyof typeof checks] : undefined;
    if (!check) throw new BadFault(`a rule has no ${name}: it has ${Object.keys(checks).join(', ')}`);
    const problem = check(given);
    if (problem !== undefined) throw new BadFault(`${name} ${problem}`);
  }
  const given = (name: keyof Fault): boolean => value[name] !== undefined;
  if (!effects.some(given)) throw new BadFault(`a rule has at least one of ${effects.join(', ')}`);
  if ((given('body') || given('headers')) && !given('status'))
    throw new BadFault('body and headers are of an answer with a status');
  const answers = (['status', 'rate_limit', 'cut'] as const).filter(given);
  if (answers.length > 1) throw new BadFault(`${answers.join(' and ')} exclude each other`);
  const rule = value as FaultScope & Fault;
  return rule.method === undefined ? rule : { ...rule, method: rule.method.toUpperCase() };
}

const API = '/api/v4';

const partsOf = (path: string): string[] => path.split('/').slice(1);

function isLike(parts: readonly string[], pattern: readonly string[]): boolean {
  if (pattern.at(-1) === '*')
    return (
      parts.length >= pattern.length - 1 && isLike(parts.slice(0, pattern.length - 1), pattern.slice(0, -1))
    );
  return (
    parts.length === pattern.length &&
    pattern.every((each, place) => (each.startsWith(':') ? parts[place] !== '' : each === parts[place]))
  );
}

/** Whether a path, as it was requested and without its query, is of the route; one of the API without its prefix, too. */
export function isOfRoute(path: string, route: string): boolean {
  const pattern = partsOf(route);
  const within = path.startsWith(`${API}/`) && isLike(partsOf(path.slice(API.length)), pattern);
  return within || isLike(partsOf(path), pattern);
}

const scopes = ({ method, route }: FaultScope, request: { method: string; path: string }): boolean =>
  (method === undefined || method === request.method) &&
  (route === undefined || isOfRoute(request.path, route));

/**
 * The first rule that a request meets, and the rules that are left: those of a count have one less. `draw` is a number from 0 to
 * 1, and meets a rule whose share is above it.
 */
export function meet(
  rules: readonly FaultRule[],
  request: { method: string; path: string },
  draw: () => number,
): { fault: FaultRule | undefined; rules: readonly FaultRule[] } {
  const fault = rules.find(
    (rule) => scopes(rule, request) && (rule.share === undefined || draw() < rule.share),
  );
  if (fault?.count === undefined) return { fault, rules };
  const left = fault.count - 1;
  return {
    fault,
    rules: rules.flatMap((rule) => {
      if (rule !== fault) return [rule];
      return left > 0 ? [{ ...rule, count: left }] : [];
    }),
  };
}

export type FaultAnswer = { status: number; headers: Record<string, string>; body: string };

/** The answer that a fault gives instead of the app's, at that time; undefined where the app answers. */
export function answerOf(
  { status, body, headers, rate_limit: rate }: Fault,
  time: Date,
): FaultAnswer | undefined {
  if (rate) {
    const reset = new Date(time.getTime() + rate.retry_after * 1_000);
    return {
      status: 429,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'ratelimit-name': 'throttle_authenticated_api',
        'ratelimit-limit': String(rate.limit),
        'ratelimit-observed': String(rate.limit + 1),
        'ratelimit-remaining': '0',
        'ratelimit-reset': String(Math.floor(reset.getTime() / 1_000)),
        'ratelimit-resettime': reset.toUTCString(),
        'retry-after': String(rate.retry_after),
      },
      body: 'Retry later\n',
    };
  }
  if (status === undefined) return undefined;
  if (typeof body === 'string')
    return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body };
  // As the public API words what it has no other words for.
  const usual = { message: `${status} ${http.STATUS_CODES[status] ?? 'Unknown'}` };
  const text = JSON.stringify(body === undefined ? usual : body);
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: hasBody(status) ? text : '',
  };
}

const hasBody = (status: number): boolean => status !== 204 && status !== 304;

const totals = new Set(['x-total', 'x-total-pages']);

/** A header without what tells how long a list is; undefined for one that tells that alone. */
export function withoutTotals(name: string, value: string): string | undefined {
  const lower = name.toLowerCase();
  if (totals.has(lower)) return undefined;
  if (lower !== 'link') return value;
  const links = value.split(/,\s*(?=<)/).filter((each) => !/;\s*rel="?last"?/.test(each));
  return links.length > 0 ? links.join(', ') : undefined;
}
