/** What a program says of all that it holds: the answers to every GET of its API document that can be asked by what lists name. */
import { createHash } from 'node:crypto';

/** By the path below /api/v4: the parsed JSON, or the SHA-256 of other bytes. */
export type Answers = Record<string, unknown>;

type Document = { paths: Record<string, Record<string, unknown>> };

/** Of each list so many records are followed. */
const FOLLOWED = 3;
/** What is named by no list. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  '{sha}': ['main'],
  '{file_path}': ['README.md', 'gr%C3%B6%C3%9Fe.txt'],
  '{package_path}': ['@workshop%2Ftongs'],
};

/** Asks what `path` has to say; undefined unless it is 200. */
export async function ask(url: string, token: string, path: string): Promise<unknown> {
  const response = await fetch(`${url}/api/v4${path}`, {
    headers: { 'private-token': token },
    redirect: 'manual',
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) return undefined;
  if (response.headers.get('content-type')?.includes('application/json')) return JSON.parse(`${bytes}`);
  return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
}

/** The texts that records of a list give for a parameter. */
function valuesOf(parameter: string, records: readonly unknown[]): string[] {
  const name = parameter.slice(1, -1);
  const from = [name, name.endsWith('iid') ? 'iid' : 'id', 'name', 'slug', 'key', 'path'];
  return records.slice(0, FOLLOWED).flatMap((record) => {
    if (typeof record !== 'object' || record === null) return [];
    const field = from.find((key) => key in record);
    const value = field === undefined ? undefined : (record as Record<string, unknown>)[field];
    return typeof value === 'string' || typeof value === 'number' ? [encodeURIComponent(value)] : [];
  });
}

/** Noteables are named by the number in their project, except snippets and epics. */
const asListed = (before: string, parameter: string): string =>
  parameter === '{noteable_id}' && /\/(issues|merge_requests|alert_management_alerts)$/.test(before)
    ? '{iid}'
    : parameter;

export async function collectAnswers(url: string, token: string, document: Document): Promise<Answers> {
  const answers: Answers = {};
  const asked = new Map<string, Promise<unknown>>();
  const asking = (path: string): Promise<unknown> => {
    const known = asked.get(path) ?? ask(url, token, path);
    asked.set(path, known);
    return known;
  };
  const expanded = new Map<string, Promise<string[]>>();
  const expand = (template: string): Promise<string[]> => {
    const known = expanded.get(template) ?? expandAnew(template);
    expanded.set(template, known);
    return known;
  };
  async function expandAnew(template: string): Promise<string[]> {
    if (template === '') return [''];
    const cut = template.lastIndexOf('/');
    const [before, last] = [template.slice(0, cut), template.slice(cut + 1)];
    const places = await expand(before);
    if (!last.includes('{')) return places.map((place) => `${place}/${last}`);
    const paths: string[] = [];
    for (const place of places) {
      const list = await asking(place);
      const listed = Array.isArray(list) ? valuesOf(asListed(before, last), list) : [];
      for (const value of listed.length > 0 ? listed : (NAMED[last] ?? [])) paths.push(`${place}/${value}`);
    }
    return paths;
  }
  for (const [template, methods] of Object.entries(document.paths)) {
    if (!('get' in methods) || isByTheHour(template)) continue;
    for (const path of await expand(template)) {
      const query = /\/repository\/files\/[^/]+(\/raw|\/blame)?$/.test(path) ? '?ref=main' : '';
      const answer = await asking(`${path}${query}`);
      if (answer !== undefined) answers[`${path}${query}`] = answer;
    }
  }
  return answers;
}

/** What the hour says, what a job counts later, the file system's times, or what the program works at, and not what was kept. */
const BY_THE_HOUR = new Set([
  ...['last_used_at', 'alert_status', 'disabled_until', 'root_repository_size'],
  ...['processes', 'queues'],
]);
const isByTheHour = (path: string): boolean => path.endsWith('/repository/health');

const DAY_MS = 86_400_000;

/** Whether both are times, one later by the age of the data; a day more or less for dates, which a time may be told as. */
function isLater(before: unknown, now: unknown, age: number): boolean {
  if (typeof before !== 'string' || typeof now !== 'string') return false;
  const difference = Date.parse(now) - Date.parse(before) - age;
  const areAll = (pattern: RegExp) => pattern.test(before) && pattern.test(now);
  if (areAll(/^\d{4}-\d\d-\d\d$/)) return Math.abs(difference) <= DAY_MS;
  return areAll(/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/) && difference === 0;
}

/** What `now` lacks of `before`, one line for each difference: a field more is none. */
function missingFrom(before: unknown, now: unknown, place: string, age: number): string[] {
  if (Array.isArray(before)) {
    if (!Array.isArray(now)) return [`${place}: no list`];
    const shorter = now.length < before.length ? [`${place}: ${now.length} of ${before.length}`] : [];
    return [
      ...shorter,
      ...before.flatMap((each, index) => missingFrom(each, now[index], `${place}[${index}]`, age)),
    ];
  }
  if (typeof before === 'object' && before !== null) {
    if (typeof now !== 'object' || now === null) return [`${place}: ${JSON.stringify(now)}`];
    const fields = now as Record<string, unknown>;
    return Object.entries(before)
      .filter(([name]) => !BY_THE_HOUR.has(name))
      .flatMap(([name, value]) => missingFrom(value, fields[name], `${place}.${name}`, age));
  }
  return before === now || isLater(before, now, age)
    ? []
    : [`${place}: ${JSON.stringify(before)} is ${JSON.stringify(now)}`];
}

/** What the program at this address lacks of all that was answered, when times were `age` milliseconds earlier. */
export async function missingAnswers(
  url: string,
  token: string,
  answers: Answers,
  age: number,
): Promise<string[]> {
  const missing: string[] = [];
  for (const [path, before] of Object.entries(answers))
    missing.push(...missingFrom(before, await ask(url, token, path), path, age));
  return missing;
}

const CHANGING = Symbol('changing');

/** What both have alike. */
export function alike(first: unknown, second: unknown): unknown {
  const common = commonOf(first, second);
  return common === CHANGING ? undefined : common;
}

function commonOf(first: unknown, second: unknown): unknown {
  if (Array.isArray(first) && Array.isArray(second)) {
    if (first.length !== second.length) return CHANGING;
    return first.map((each, index) => {
      const common = commonOf(each, second[index]);
      return common === CHANGING ? {} : common;
    });
  }
  if (typeof first === 'object' && typeof second === 'object' && first !== null && second !== null) {
    const others = second as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(first)
        .map(([name, value]) => [name, commonOf(value, others[name])])
        .filter(([, value]) => value !== CHANGING),
    );
  }
  return first === second ? first : CHANGING;
}
