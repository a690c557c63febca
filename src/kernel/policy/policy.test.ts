/** The policy: its decisions, and the whole matrix as a file for readers. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  type Decision,
  decide,
  groupPolicy,
  isVisible,
  projectPolicy,
  type Rule,
  type Standing,
} from './policy.ts';
import {
  DEVELOPER,
  GUEST,
  INTERNAL,
  MAINTAINER,
  MINIMAL,
  NO_ACCESS,
  OWNER,
  PLANNER,
  PRIVATE,
  PUBLIC,
  REPORTER,
  visibilityLevel,
  visibilityNames,
} from './roles.ts';

const nobody: Standing = {
  signedIn: false,
  admin: false,
  auditor: false,
  external: false,
  role: NO_ACCESS,
  visibility: PRIVATE,
  archived: false,
};
const outsider: Standing = { ...nobody, signedIn: true };
const external: Standing = { ...outsider, external: true };

describe('visibility (facts: Roles and visibility)', () => {
  test.each<[string, Standing, boolean]>([
    ['anonymous, public', { ...nobody, visibility: PUBLIC }, true],
    ['anonymous, internal', { ...nobody, visibility: INTERNAL }, false],
    ['anonymous, private', nobody, false],
    ['outsider, internal', { ...outsider, visibility: INTERNAL }, true],
    ['outsider, private', outsider, false],
    ['external, internal', { ...external, visibility: INTERNAL }, false],
    ['external, public', { ...external, visibility: PUBLIC }, true],
    ['external member, private', { ...external, role: GUEST }, true],
    ['minimal access, private', { ...outsider, role: MINIMAL }, true],
    ['member of something inside, private', { ...outsider, reachesInside: true }, true],
    ['auditor, private', { ...outsider, auditor: true }, true],
    ['administrator, private', { ...outsider, admin: true }, true],
  ])('%s', (_, standing, visible) => {
    expect(isVisible(standing)).toBe(visible);
  });
});

describe('decisions (spec: Status codes)', () => {
  const change: Rule = { least: MAINTAINER };
  const read: Rule = { least: GUEST, visible: 'anyone', whileArchived: true };
  const star: Rule = { least: GUEST, visible: 'signed_in' };
  const audit: Rule = { least: DEVELOPER, whileArchived: true, auditor: true };
  const auditor: Standing = { ...outsider, auditor: true };
  const inside: Standing = { ...outsider, reachesInside: true };
  const people = groupPolicy.read_group_members;

  test.each<[string, Rule, Standing, Decision]>([
    ['anonymous reads what is public', read, { ...nobody, visibility: PUBLIC }, 'allowed'],
    ['anonymous does not learn what is private', read, nobody, 'invisible'],
    ['anonymous is asked to sign in first, seen or not', change, nobody, 'sign_in'],
    ['anonymous is asked to sign in to star', star, { ...nobody, visibility: PUBLIC }, 'sign_in'],
    ['seeing is enough to star', star, { ...outsider, visibility: INTERNAL }, 'allowed'],
    ['an outsider does not learn what is private', change, outsider, 'invisible'],
    ['an outsider may not change what is public', change, { ...outsider, visibility: PUBLIC }, 'refused'],
    ['a role below the least', change, { ...outsider, role: DEVELOPER }, 'refused'],
    ['the least role', change, { ...outsider, role: MAINTAINER }, 'allowed'],
    ['a role above the least', change, { ...outsider, role: OWNER }, 'allowed'],
    ['reaching inside shows, and gives no role', change, { ...outsider, reachesInside: true }, 'refused'],
    ['an administrator without a role', change, { ...outsider, admin: true }, 'allowed'],
    ['an archived object', change, { ...outsider, role: OWNER, archived: true }, 'refused'],
    [
      'an archived object, to an administrator',
      change,
      { ...outsider, admin: true, archived: true },
      'refused',
    ],
    ['an archived object is read', read, { ...outsider, role: GUEST, archived: true }, 'allowed'],
    ['an archived object that is invisible', change, { ...outsider, archived: true }, 'invisible'],
    ['an auditor reads', audit, auditor, 'allowed'],
    ['a member of something inside reads the group', groupPolicy.read_group, inside, 'allowed'],
    ['a member of something inside does not read its members', people, inside, 'refused'],
    ['where it is open to them, they do', people, { ...inside, visibility: INTERNAL }, 'allowed'],
    ['a member reads the members', people, { ...inside, role: GUEST }, 'allowed'],
    ['an auditor changes nothing', change, auditor, 'refused'],
    ['anonymous reads public code', projectPolicy.read_code, { ...nobody, visibility: PUBLIC }, 'allowed'],
    [
      'code that is kept to members, to an outsider',
      projectPolicy.read_code,
      { ...outsider, visibility: PUBLIC, features: { repository_access_level: 'private' } },
      'refused',
    ],
    [
      'code that is kept to members, to one of them',
      projectPolicy.read_code,
      { ...outsider, role: REPORTER, features: { repository_access_level: 'private' } },
      'allowed',
    ],
    [
      'code that is turned off, to the owner',
      projectPolicy.read_code,
      { ...outsider, role: OWNER, features: { repository_access_level: 'disabled' } },
      'refused',
    ],
    [
      'jobs that are public, to a guest',
      projectPolicy.read_pipelines,
      { ...outsider, role: GUEST },
      'allowed',
    ],
    [
      'jobs that are not public, to a guest',
      projectPolicy.read_pipelines,
      { ...outsider, role: GUEST, features: { public_jobs: false } },
      'refused',
    ],
    [
      'jobs of a public project that are not, to an outsider',
      projectPolicy.read_pipelines,
      { ...outsider, visibility: PUBLIC, features: { public_jobs: false } },
      'refused',
    ],
    [
      'jobs that are not public, to a reporter',
      projectPolicy.read_pipelines,
      { ...outsider, role: REPORTER, features: { public_jobs: false } },
      'allowed',
    ],
  ])('%s', (_, rule, standing, decision) => {
    expect(decide(rule, standing)).toBe(decision);
  });

  test('an auditor is let into nothing but what reads', () => {
    const rules: [string, Rule][] = [...Object.entries(projectPolicy), ...Object.entries(groupPolicy)];
    const opened = rules.filter(([, rule]) => rule.auditor).map(([ability]) => ability);
    expect(opened.filter((ability) => !ability.startsWith('read_'))).toEqual([]);
    const closed = rules.filter(([name, rule]) => name.startsWith('read_') && !rule.auditor && !rule.visible);
    expect(closed.map(([ability]) => ability)).toEqual([]);
  });
});

const callers: [string, Standing][] = [
  ['anonymous', nobody],
  ['outsider', outsider],
  ['external', external],
  ...(
    [
      ['guest', GUEST],
      ['planner', PLANNER],
      ['reporter', REPORTER],
      ['developer', DEVELOPER],
      ['maintainer', MAINTAINER],
      ['owner', OWNER],
    ] as const
  ).map(([name, role]): [string, Standing] => [name, { ...outsider, role }]),
  ['admin', { ...outsider, admin: true, role: OWNER }],
  ['auditor', { ...outsider, auditor: true }],
  ['minimal', { ...outsider, role: MINIMAL }],
  ['inside', { ...outsider, reachesInside: true }],
];

const answers: Record<Decision, string> = {
  allowed: 'yes',
  refused: '403',
  invisible: '404',
  sign_in: '401',
};

/** The decisions for private, internal and public; one when they are all the same. */
function cell(rule: Rule, standing: Standing): string {
  const each = visibilityNames.map(
    (name) => answers[decide(rule, { ...standing, visibility: visibilityLevel(name) })],
  );
  return new Set(each).size === 1 ? (each[0] ?? '') : each.join(' ');
}

function table(policy: Record<string, Rule>): string {
  const rows = [
    ['ability', ...callers.map(([name]) => name), 'archived', 'part'],
    ...Object.entries(policy).map(([ability, rule]) => [
      ability,
      ...callers.map(([, standing]) => cell(rule, standing)),
      rule.whileArchived ? 'same' : '403',
      rule.feature?.replace('_access_level', '') ?? '',
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map(
    (row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}

const matrix = `# Who may do what

Written by \`UPDATE_GOLDEN=1\` from \`src/kernel/policy/policy.ts\`; a change of it is a change of who may do what.
Three answers in a cell are those for a private, an internal and a public object. \`yes\`: allowed. 401: sign in first.
403: refused. 404: does not exist for this caller. \`inside\` is a member of something inside a group. Then what those who may
are told while the object is archived, and the part that, turned off, is refused to all, and kept to members, to others.

## Projects

${table(projectPolicy)}

## Groups

${table(groupPolicy)}
`;

test('the matrix is the committed one', () => {
  const path = fileURLToPath(new URL('../../../test/contract/access-policy.golden.md', import.meta.url));
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, matrix);
  }
  expect(matrix).toBe(readFileSync(path, 'utf8'));
});
