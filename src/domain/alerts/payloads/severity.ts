/** Severities in the words of each payload (spec: Alert, its two tables of severities). */
import { type Severity, severities } from '../records.ts';
import { textOf, type Value } from './values.ts';

/** Also for unknown words: an alert rated too low would wake no member. */
const DEFAULT: Severity = 'critical';

const METRICS_WORDS: readonly (readonly [Severity, readonly string[]])[] = [
  ['critical', ['critical', 's1', 'p1', 'emergency', 'fatal']],
  ['high', ['high', 's2', 'p2', 'major', 'page']],
  ['medium', ['medium', 's3', 'p3', 'error', 'alert']],
  ['low', ['low', 's4', 'p4', 'warn', 'warning']],
  ['info', ['info', 's5', 'p5', 'debug', 'information', 'notice']],
];

const genericWords = new Map<string, Severity>(severities.map((severity) => [severity, severity]));
const metricsWords = new Map(
  METRICS_WORDS.flatMap(([severity, words]) => words.map((word): [string, Severity] => [word, severity])),
);

const wordOf = (value: Value): string => textOf(value)?.trim().toLowerCase() ?? '';

/** One of the six names, in any case; else critical. */
export const genericSeverity = (value: Value): Severity => genericWords.get(wordOf(value)) ?? DEFAULT;

/** The words of metrics tools, in any case; else critical: `unknown` is none of them. */
export const metricsSeverity = (value: Value): Severity => metricsWords.get(wordOf(value)) ?? DEFAULT;
