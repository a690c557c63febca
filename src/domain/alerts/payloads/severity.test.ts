/** Both tables of the spec. */
import { describe, expect, test } from 'vitest';
import { genericSeverity, metricsSeverity } from './severity.ts';
import type { Value } from './values.ts';

describe('of a generic payload', () => {
  test.each<[Value, string]>([
    ['critical', 'critical'],
    ['high', 'high'],
    ['medium', 'medium'],
    ['low', 'low'],
    ['info', 'info'],
    ['unknown', 'unknown'],
    ['HIGH', 'high'],
    ['Unknown', 'unknown'],
    [' low ', 'low'],
    ['warning', 'critical'],
    ['s2', 'critical'],
    ['constructor', 'critical'],
    ['', 'critical'],
    [undefined, 'critical'],
    [null, 'critical'],
    [3, 'critical'],
    [['low'], 'critical'],
    [{ level: 'low' }, 'critical'],
  ])('%j is %s', (value, expected) => {
    expect(genericSeverity(value)).toBe(expected);
  });
});

describe('of a metrics payload', () => {
  const words = {
    critical: ['critical', 's1', 'p1', 'emergency', 'fatal'],
    high: ['high', 's2', 'p2', 'major', 'page'],
    medium: ['medium', 's3', 'p3', 'error', 'alert'],
    low: ['low', 's4', 'p4', 'warn', 'warning'],
    info: ['info', 's5', 'p5', 'debug', 'information', 'notice'],
  };
  test.each(
    Object.entries(words).flatMap(([severity, accepted]) => accepted.map((word) => [word, severity])),
  )('%s is %s, in any case', (word, expected) => {
    expect(metricsSeverity(word)).toBe(expected);
    expect(metricsSeverity(word?.toUpperCase())).toBe(expected);
  });

  test.each<[Value]>([
    ['unknown'],
    ['none'],
    ['s6'],
    ['__proto__'],
    [''],
    [undefined],
    [null],
    [4],
    [['info']],
  ])('%j is critical', (value) => {
    expect(metricsSeverity(value)).toBe('critical');
  });
});
