/** Every property of the generic payload: default, spelling, limit and mapping (spec: Alert). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha1 } from '../../../platform/secret.ts';
import type { JsonObject, ParsedAlert } from '../records.ts';
import { type GenericContext, parseGeneric } from './generic.ts';
import { type Mapping, mappableFields } from './mapping.ts';

const now = new Date('2026-04-01T12:00:00Z');
const start = new Date('2026-03-31T08:00:00Z');
const parse = (payload: JsonObject, context: Partial<GenericContext> = {}): ParsedAlert =>
  parseGeneric(payload, { now, mapping: undefined, generatesFingerprint: false, ...context });

test('nothing at all is an alert', () => {
  expect(parse({})).toEqual({
    title: 'New: Alert',
    description: null,
    severity: 'critical',
    service: null,
    monitoringTool: null,
    hosts: [],
    environmentName: null,
    runbook: null,
    query: null,
    yLabel: null,
    incidentMarkdown: null,
    fingerprint: null,
    startedAt: now,
    endedAt: null,
    resolves: false,
    payload: {},
  });
});

test('everything at once', () => {
  const payload: JsonObject = {
    title: 'Disk full',
    description: 'No space left',
    start_time: '2026-03-31T08:00:00Z',
    service: 'storage',
    monitoring_tool: 'Nagios',
    hosts: ['db1', 'db2'],
    severity: 'High',
    fingerprint: 'disk',
    runbook: 'https://example.com/disk',
    service_environment_name: 'production',
    extra: { nested: [1, { deep: true }] },
  };
  expect(parse(payload)).toEqual({
    title: 'Disk full',
    description: 'No space left',
    severity: 'high',
    service: 'storage',
    monitoringTool: 'Nagios',
    hosts: ['db1', 'db2'],
    environmentName: 'production',
    runbook: 'https://example.com/disk',
    query: null,
    yLabel: null,
    incidentMarkdown: null,
    fingerprint: sha1('disk'),
    startedAt: start,
    endedAt: null,
    resolves: false,
    payload,
  });
});

describe('one property', () => {
  const long = 'x'.repeat(2000);
  const cutTo = (most: number): string => `${'x'.repeat(most - 3)}...`;
  test.each<[string, JsonObject, Partial<ParsedAlert>]>([
    ['a title', { title: 'Down' }, { title: 'Down' }],
    ['a title that is empty', { title: '' }, { title: 'New: Alert' }],
    ['a title of white space', { title: ' \n' }, { title: 'New: Alert' }],
    ['a title that is null', { title: null }, { title: 'New: Alert' }],
    ['a title that is a number', { title: 42 }, { title: '42' }],
    ['a title that is an object', { title: { en: 'Down' } }, { title: 'New: Alert' }],
    ['a title of 200 characters', { title: 'x'.repeat(200) }, { title: 'x'.repeat(200) }],
    ['a title too long', { title: 'x'.repeat(201) }, { title: cutTo(200) }],
    ['a title of 200 wide characters', { title: '😀'.repeat(200) }, { title: '😀'.repeat(200) }],
    ['a title of wide characters too long', { title: '😀'.repeat(201) }, { title: `${'😀'.repeat(197)}...` }],
    ['a title with a NUL', { title: 'a\0b' }, { title: 'a\uFFFDb', payload: { title: 'a\uFFFDb' } }],
    ['a title with half a character', { title: 'a\ud83d' }, { title: 'a\uFFFD' }],
    ['a description', { description: 'Why' }, { description: 'Why' }],
    ['a description that is empty', { description: '' }, { description: null }],
    [
      'a description too long',
      { description: long },
      { description: cutTo(1000), payload: { description: long } },
    ],
    ['a service too long', { service: long }, { service: cutTo(100) }],
    ['a service that is a list', { service: ['a'] }, { service: null }],
    ['a tool too long', { monitoring_tool: long }, { monitoringTool: cutTo(100) }],
    ['one host', { hosts: 'db1' }, { hosts: ['db1'] }],
    ['hosts', { hosts: ['db1', 'db2'] }, { hosts: ['db1', 'db2'] }],
    ['hosts in lists', { hosts: [['db1'], ['db2', ['db3']]] }, { hosts: ['db1', 'db2', 'db3'] }],
    ['hosts that are none', { hosts: ['', null, {}, true, 'db1'] }, { hosts: ['db1'] }],
    ['a host that is a number', { hosts: 7 }, { hosts: ['7'] }],
    ['no hosts', { hosts: [] }, { hosts: [] }],
    ['hosts as an object', { hosts: { a: 'db1' } }, { hosts: [] }],
    [
      'more hosts than fit',
      { hosts: Array.from({ length: 300 }, () => 'x') },
      { hosts: Array(255).fill('x') },
    ],
    ['a host too long', { hosts: long }, { hosts: [cutTo(255)] }],
    ['a severity in capitals', { severity: 'LOW' }, { severity: 'low' }],
    ['the severity unknown', { severity: 'unknown' }, { severity: 'unknown' }],
    ['a severity of the other table', { severity: 's3' }, { severity: 'critical' }],
    ['a severity that is a number', { severity: 3 }, { severity: 'critical' }],
    ['a start', { start_time: '2026-03-31T10:00:00+02:00' }, { startedAt: start }],
    ['a start in milliseconds', { start_time: start.getTime() }, { startedAt: start }],
    ['a start in milliseconds, as text', { start_time: `${start.getTime()}` }, { startedAt: start }],
    ['a start that is none', { start_time: 'just now' }, { startedAt: now }],
    ['a start that is empty', { start_time: '' }, { startedAt: now }],
    ['a start too late for a date', { start_time: 1e17 }, { startedAt: now }],
    ['an end', { end_time: '2026-03-31T08:00:00Z' }, { endedAt: start, resolves: true, startedAt: now }],
    ['an end in milliseconds', { end_time: start.getTime() }, { endedAt: start, resolves: true }],
    ['an end in the future', { end_time: '2027-01-01' }, { endedAt: new Date('2027-01-01'), resolves: true }],
    ['an end that is null', { end_time: null }, { endedAt: null, resolves: false }],
    ['an end that is empty', { end_time: '' }, { endedAt: null, resolves: false }],
    ['an end that is none', { end_time: 'N/A' }, { endedAt: null, resolves: false }],
    ['an end of zero', { end_time: 0 }, { endedAt: null, resolves: false }],
    ["Go's zero time as an end", { end_time: '0001-01-01T00:00:00Z' }, { endedAt: null, resolves: false }],
    ['a fingerprint', { fingerprint: 'abc' }, { fingerprint: sha1('abc') }],
    ['a fingerprint of several', { fingerprint: ['a', ['b', 'c']] }, { fingerprint: sha1('abc') }],
    ['a fingerprint that is empty', { fingerprint: '' }, { fingerprint: null }],
    ['a fingerprint of nothing', { fingerprint: [] }, { fingerprint: null }],
    ['an environment', { service_environment_name: 'staging' }, { environmentName: 'staging' }],
    ['an environment by its public name', { gitlab_environment_name: 'qa' }, { environmentName: 'qa' }],
    [
      'an environment by both names',
      { service_environment_name: 'staging', gitlab_environment_name: 'qa' },
      { environmentName: 'staging' },
    ],
    [
      'an environment empty by the first name',
      { service_environment_name: '', gitlab_environment_name: 'qa' },
      { environmentName: 'qa' },
    ],
    ['a status, which is none of its properties', { status: 'resolved' }, { resolves: false }],
    ['a key that objects inherit', JSON.parse('{"__proto__":{"title":"Down"}}'), { title: 'New: Alert' }],
  ])('%s', (_what, payload, expected) => {
    expect(parse(payload)).toMatchObject(expected);
  });
});

describe('the fingerprint', () => {
  const of = (payload: JsonObject, generatesFingerprint = true) =>
    parse(payload, { generatesFingerprint }).fingerprint;

  test('is generated of what stays the same, where that is asked for', () => {
    const fired = of({ title: 'Down', start_time: '2026-04-01T12:00:00Z', hosts: 'a' });
    expect(fired).toHaveLength(20);
    expect(of({ end_time: '2026-04-01T13:00:00Z', title: 'Down' })).toEqual(fired);
    expect(of({ title: 'Up' })).not.toEqual(fired);
    expect(of({ title: 'Down' }, false)).toBeNull();
    expect(of({ start_time: '2026-04-01T12:00:00Z', title: '' })).toBeNull();
  });

  test('that was given wins over one generated', () => {
    expect(of({ title: 'Down', fingerprint: 'abc' })).toEqual(sha1('abc'));
    expect(of({ title: 'Up', fingerprint: 'abc' })).toEqual(sha1('abc'));
  });

  test('leaves out mapped times and hosts too', () => {
    const mapping: Mapping = { start_time: { path: ['event', 'at'], label: 'at', type: 'datetime' } };
    const at = (time: string) =>
      parse({ event: { name: 'Down', at: time } }, { mapping, generatesFingerprint: true }).fingerprint;
    expect(at('2026-04-01T12:00:00Z')).toEqual(at('2026-04-01T13:00:00Z'));
  });
});

describe('with a mapping', () => {
  const mapping: Mapping = Object.fromEntries(
    mappableFields.map((field) => [field, { path: ['event', field], label: field, type: 'string' }]),
  );
  const mapped = (event: JsonObject, rest: JsonObject = {}) => parse({ event, ...rest }, { mapping });

  test.each<[string, JsonObject, JsonObject, Partial<ParsedAlert>]>([
    ['a title', { title: 'Mapped' }, { title: 'Standard' }, { title: 'Mapped' }],
    ['a title that is not there', {}, { title: 'Standard' }, { title: 'Standard' }],
    ['a title that is empty', { title: '' }, { title: 'Standard' }, { title: 'Standard' }],
    ['a title that is an object', { title: {} }, { title: 'Standard' }, { title: 'Standard' }],
    ['no title anywhere', {}, {}, { title: 'New: Alert' }],
    ['a description', { description: 'a' }, { description: 'b' }, { description: 'a' }],
    ['a service', { service: 'a' }, { service: 'b' }, { service: 'a' }],
    ['a tool', { monitoring_tool: 'a' }, { monitoring_tool: 'b' }, { monitoringTool: 'a' }],
    ['hosts', { hosts: ['a', 'b'] }, { hosts: 'c' }, { hosts: ['a', 'b'] }],
    ['hosts that are none', { hosts: [] }, { hosts: 'c' }, { hosts: ['c'] }],
    ['a severity', { severity: 'low' }, { severity: 'high' }, { severity: 'low' }],
    [
      'a severity that is no word of ours',
      { severity: 'P9' },
      { severity: 'high' },
      { severity: 'critical' },
    ],
    ['a fingerprint', { fingerprint: 'abc' }, { fingerprint: 'x' }, { fingerprint: sha1('abc') }],
    [
      'an environment',
      { service_environment_name: 'a' },
      { gitlab_environment_name: 'b' },
      { environmentName: 'a' },
    ],
    ['a start', { start_time: '2026-03-31T08:00:00Z' }, {}, { startedAt: start }],
    [
      'a start that is none',
      { start_time: 'x' },
      { start_time: '2026-03-31T08:00:00Z' },
      { startedAt: start },
    ],
    ['an end', { end_time: '2026-03-31T08:00:00Z' }, {}, { endedAt: start, resolves: true }],
    ['an end that is not there yet', { end_time: null }, {}, { endedAt: null, resolves: false }],
  ])('%s', (_what, event, rest, expected) => {
    expect(mapped(event, rest)).toMatchObject(expected);
  });
});

test('no JSON whatever throws, and what is read of it can be stored', () => {
  const value = fc.jsonValue({ depthSize: 'small', maxDepth: 3, stringUnit: 'binary' });
  const known = fc.record(
    Object.fromEntries(
      [...mappableFields, 'runbook', 'gitlab_environment_name'].map((field) => [field, value]),
    ),
    { requiredKeys: [] },
  );
  const mapping = fc.constantFrom<Mapping | undefined>(undefined, {
    title: { path: ['hosts', 0, ''], label: 'x', type: 'string' },
    end_time: { path: ['severity', '0'], label: 'y', type: 'datetime' },
  });
  fc.assert(
    fc.property(
      known,
      fc.dictionary(fc.string(), value, { maxKeys: 3 }),
      mapping,
      fc.boolean(),
      (some, more, by, generates) => {
        const payload: JsonObject = JSON.parse(JSON.stringify({ ...more, ...some }));
        const alert = parse(payload, { mapping: by, generatesFingerprint: generates });
        expect(alert.title.length).toBeGreaterThan(0);
        expect(alert.hosts.join('').length).toBeLessThanOrEqual(2 * 255);
        expect(alert.startedAt.getTime()).not.toBeNaN();
        expect(JSON.stringify(alert)).not.toMatch(/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/);
        expect([undefined, 20]).toContain(alert.fingerprint?.length);
      },
    ),
  );
});
