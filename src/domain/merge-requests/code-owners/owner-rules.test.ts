/** The rules that entries of a code owners file make. */
import { expect, test } from 'vitest';
import type { CodeOwnersEntry } from '../../repositories/index.ts';
import { type OwnerRule, rulesOfEntries } from './owner-rules.ts';

const entry = (changes: Partial<CodeOwnersEntry> = {}): CodeOwnersEntry => ({
  section: 'codeowners',
  pattern: '*.rb',
  owners: [],
  approvalsRequired: 1,
  isOptional: false,
  ...changes,
});
const rule = (changes: Partial<OwnerRule> = {}): OwnerRule => ({
  name: '*.rb',
  section: 'codeowners',
  approvals_required: 1,
  owner_names: [],
  owner_emails: [],
  owner_roles: [],
  ...changes,
});
const closed = rule({ name: 'docs/CODEOWNERS', section: null });
const many = (count: number, of: (at: number) => CodeOwnersEntry) =>
  Array.from({ length: count }, (_, at) => of(at));

test.each<[string, CodeOwnersEntry[] | undefined, OwnerRule[]]>([
  ['none', [], []],
  ['one', [entry()], [rule()]],
  ['of a section', [entry({ section: 'Docs' })], [rule({ section: 'Docs' })]],
  ['that need more', [entry({ approvalsRequired: 3 })], [rule({ approvals_required: 3 })]],
  [
    'that need more than a rule may',
    [entry({ approvalsRequired: 999 })],
    [rule({ approvals_required: 100 })],
  ],
  [
    'that are optional',
    [entry({ isOptional: true, approvalsRequired: 2 })],
    [rule({ approvals_required: 0 })],
  ],
  [
    'with owners, each once, whatever their case',
    [
      entry({
        owners: [
          { kind: 'path', path: 'Ann' },
          { kind: 'email', email: 'Ben@Example.com' },
          { kind: 'path', path: 'ann' },
          { kind: 'path', path: 'group/Sub' },
          { kind: 'role', role: 30 },
          { kind: 'email', email: 'ben@example.com' },
        ],
      }),
    ],
    [rule({ owner_names: ['ann', 'group/sub'], owner_emails: ['ben@example.com'], owner_roles: [30] })],
  ],
  ['that are not known', undefined, [closed]],
  ['with a very long pattern', [entry({ pattern: 'a'.repeat(40_000) })], [closed]],
  ['too many', many(400, (at) => entry({ pattern: `${at}` })), [closed]],
])('entries %s', (_, entries, expected) => {
  expect(rulesOfEntries('docs/CODEOWNERS', entries)).toEqual(expected);
});

test('many that are few enough are all told', () => {
  expect(
    rulesOfEntries(
      'CODEOWNERS',
      many(200, (at) => entry({ pattern: `${at}` })),
    ),
  ).toHaveLength(200);
});
