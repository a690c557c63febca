/** The dashboard and the alert rules as they are committed, and the metrics that they name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'packaging', 'monitoring');

export const rulesFile = join(folder, 'alerts.yml');
/** Cases for `promtool test rules`. */
export const ruleCasesFile = join(root, 'test', 'journeys', 'alerts.test.yml');

type Rule = { alert: string; expr: string };
type Panel = {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig?: { defaults: { unit?: string } };
  targets?: { refId: string; expr: string; datasource: { uid: string } }[];
};

export const rules: readonly Rule[] = parse(readFileSync(rulesFile, 'utf8')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);

type Case = { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] };
export const ruleCases = (parse(readFileSync(ruleCasesFile, 'utf8')).tests as Case[]).flatMap(
  (each) => each.alert_rule_test,
);

export const panels: readonly Panel[] = JSON.parse(
  readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8'),
).panels;

export const targets = panels.flatMap((panel) => panel.targets ?? []);

export const operating = readFileSync(join(root, 'docs', 'operate.md'), 'utf8');

/** Names in an expression that are neither of labels nor of functions: each is a metric, or a word of the language. */
export function namesIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|on|without|ignoring|group_left|group_right) *\([^)]*\)/g, '');
  const words = new Set(['unless', 'and', 'or', 'bool', 'offset']);
  return [...bare.matchAll(/\b[a-z_]\w*\b(?! *\()/g)]
    .map(([name]) => name)
    .filter((name) => !words.has(name));
}

/** What the first column of each table below the heading has in code. */
export function namedBelow(heading: string): string[] {
  const [, section = ''] = operating.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}
