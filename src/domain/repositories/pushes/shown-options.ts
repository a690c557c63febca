/** The options of a git push as webhooks show them (facts-merge-requests: 10.5). Pure. */

/** By namespace and key; of what may be given several times, how often each value was. */
export type ShownOptions = Record<string, Record<string, true | string | Record<string, number>>>;

const keys: Readonly<Record<string, ReadonlySet<string>>> = {
  merge_request: new Set([
    ...['create', 'target', 'target_project', 'title', 'description', 'draft', 'milestone', 'squash'],
    ...['label', 'unlabel', 'assign', 'unassign', 'remove_source_branch', 'auto_merge'],
    'merge_when_pipeline_succeeds',
  ]),
  ci: new Set(['skip', 'variable', 'input']),
  integrations: new Set(['skip_ci']),
};
const repeated = new Set([
  ...['merge_request.label', 'merge_request.unlabel', 'merge_request.assign', 'merge_request.unassign'],
  ...['ci.variable', 'ci.input'],
]);
const aliases = new Map([['mr', 'merge_request']]);

/** Characters of all: each listener's job has the fact that they are in. */
const MAX_LENGTH = 16_384;

/** Options of other namespaces are left out, and all where they are too long. */
export function shownOptions(given: readonly string[]): ShownOptions {
  const shown: ShownOptions = {};
  for (const option of given) {
    const [, prefix = '', name = '', value = ''] = /^([^.]+)\.([^=]+)=?(.*)$/s.exec(option) ?? [];
    const namespace = aliases.get(prefix.trim()) ?? prefix.trim();
    const key = name.trim();
    if (!Object.hasOwn(keys, namespace) || !keys[namespace]?.has(key)) continue;
    const text = value.trim();
    const before = shown[namespace] ?? {};
    const counts = before[key];
    const counted = typeof counts === 'object' ? counts : {};
    const times = Object.hasOwn(counted, text) ? (counted[text] ?? 0) : 0;
    const isRepeated = repeated.has(`${namespace}.${key}`);
    shown[namespace] = { ...before, [key]: isRepeated ? { ...counted, [text]: times + 1 } : text || true };
  }
  return JSON.stringify(shown).length > MAX_LENGTH ? {} : shown;
}
