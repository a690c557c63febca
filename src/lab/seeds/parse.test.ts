import Schema from 'typebox/schema';
import { expect, test } from 'vitest';
import { parseSeed, SeedError } from './parse.ts';
import { MAX_LENGTH, readDocument } from './read-document.ts';
import { SeedDocument } from './schema.ts';
import { structureProblems } from './structure.ts';

/** Lines of what is wrong with a document; none where it is a seed. */
function problemsOf(text: string): readonly string[] {
  try {
    parseSeed(text, 'w.yml');
    return [];
  } catch (error) {
    if (error instanceof SeedError) return error.problems;
    throw error;
  }
}

const good: [string, string][] = [
  ['the smallest seed', 'projects: [{path: demo}]'],
  ['nothing at all', '{}'],
  ['JSON', '{"projects":[{"path":"demo","files":{"a":"1"}}]}'],
  ['a schema for editors', '$schema: https://example.com/seed.schema.json\nusers: []'],
  [
    'anchors',
    'users:\n- &a {username: ann}\ngroups:\n- path: g\n  members: &m {ann: owner}\n- {path: h, members: *m}',
  ],
  ['groups below others that come later', 'groups: [{path: a/b/c}, {path: a/b}, {path: a}]'],
  ['names in any case', 'users: [{username: Ann}]\nprojects: [{path: ann/x, members: {ANN: owner}}]'],
  [
    'a file in the place of a folder',
    "projects:\n- path: p\n  files: {a/b: '1'}\n  commits: [{message: m, files: {a/b: null, a: '2'}}]",
  ],
  ['a key __proto__ among files', "projects: [{path: p, files: {__proto__: '1', constructor: '2'}}]"],
  [
    'a label of a group above',
    'groups: [{path: g, labels: [{name: l}]}, {path: g/h}]\nprojects: [{path: g/h/p, issues: [{title: t, labels: [l]}]}]',
  ],
];

test.each(good)('%s', (_, text) => {
  expect(problemsOf(text)).toEqual([]);
});

const bad: [string, string, string[]][] = [
  ['an empty document', '', ['w.yml:1:1: a seed is an object']],
  ['a list', '- a', ['w.yml:1:1: a seed is an object']],
  [
    'no YAML',
    'users: [',
    ['w.yml:1:9: flow sequence in block collection must be sufficiently indented and end with a ]'],
  ],
  ['two documents', 'users: []\n---\nusers: []', ['w.yml:2:1: a second document begins here: a seed is one']],
  [
    'a word of its own',
    'user: []',
    ['w.yml:1:1: there is no "user" here, but $schema, users, groups, projects, and applications'],
  ],
  ['a key twice', 'users: []\nusers: []', ['w.yml:2:1: "users" is there twice']],
  ['a key that is a list', '? [a]\n: 1', ['w.yml:1:3: a key is a word, no list or object']],
  ['a missing username', 'users:\n  - name: Ann', ['w.yml:2:5: "username" is missing']],
  ['numbers for texts', 'users: [{username: 7}]', ['w.yml:1:10: "username" is a text']],
  [
    'no day',
    'groups: [{path: g, milestones: [{title: t, due_date: 2026-02-30}]}]',
    ['w.yml:1:44: "due_date" is a day like 2026-01-31, not "2026-02-30"'],
  ],
  [
    'no time',
    'projects: [{path: p, issues: [{title: t, created_at: soon}]}]',
    ['w.yml:1:42: "created_at" is a time like 2026-01-31T09:30:00Z, not "soon"'],
  ],
  [
    'no role',
    'groups: [{path: g, members: {root: boss}}]',
    ['w.yml:1:30: "root" is one of guest, planner, reporter, developer, maintainer, owner, not "boss"'],
  ],
  [
    'no color',
    'groups: [{path: g, labels: [{name: l, color: red}]}]',
    ['w.yml:1:39: "color" is a color like #428bca: not "red"'],
  ],
  [
    'no path',
    'projects: [{path: ../etc}]',
    ['w.yml:1:13: "path" is a path of letters, digits, "_", "-" and "." in parts behind "/": not "../etc"'],
  ],
  ['a reserved path', 'groups: [{path: admin}]', ['w.yml:1:11: "admin" as a path: admin is a reserved name']],
  ['a NUL', 'users: [{username: ann, name: "a\\0b"}]', ['w.yml:1:25: "name" has a NUL in it']],
  ['an unknown alias', 'users: *a', ['w.yml:1:8: nothing is called &a before here']],
  [
    'who is not there',
    'groups:\n  - path: g\n    members:\n      ann: owner\nprojects:\n  - path: h/p\n    issues:\n      - title: t\n        author: bob\n        labels: [l]\n        milestone: m',
    [
      'w.yml:4:7: no user "ann" is described',
      'w.yml:6:5: no group or user "h" is described',
      'w.yml:9:9: no user "bob" is described',
      'w.yml:10:18: no label "l" is described there',
      'w.yml:11:9: no milestone "m" is described there',
    ],
  ],
  ['a group without those above it', 'groups: [{path: a/b}]', ['w.yml:1:11: no group "a" is described']],
  [
    'users twice',
    'users: [{username: ann}, {username: Ann}]',
    [
      'w.yml:1:26: the user "Ann" is described twice',
      'w.yml:1:26: the address "Ann@example.com" is described twice',
    ],
  ],
  [
    'a group in the place of a user',
    'users: [{username: ann}]\ngroups: [{path: Ann}]',
    ['w.yml:2:10: the path "Ann" is described twice'],
  ],
  [
    'a token without a value',
    'users: [{username: ann, tokens: [{name: t}]}]',
    ['w.yml:1:34: a token has either "value" or "sha256"'],
  ],
  [
    'a value twice',
    'users: [{username: ann, tokens: [{name: t, value: 12345678}]}]',
    ['w.yml:1:44: "value" is a text'],
  ],
  [
    'a parent that comes later',
    'projects:\n- path: p\n  commits:\n  - {message: a, parents: [b]}\n  - {message: b, id: b}',
    ['w.yml:4:28: no commit before this one has the id "b"'],
  ],
  [
    'a file below a file',
    "projects: [{path: p, files: {a: '1', a/b: '2'}}]",
    ['w.yml:1:38: "a" is a file, and no folder'],
  ],
  [
    'nothing to remove',
    'projects: [{path: p, files: {a: null}}]',
    ['w.yml:1:30: there is no such file to be removed'],
  ],
  [
    'files outside',
    "projects: [{path: p, files: {../a: '1', .git/config: '2', '/b': '3', \"c\\0\": '4'}}]",
    [
      'w.yml:1:30: a repository cannot have the path "../a"',
      'w.yml:1:41: a repository cannot have the path ".git/config"',
      'w.yml:1:59: a repository cannot have the path "/b"',
      'w.yml:1:70: a repository cannot have the path "c\\u0000"',
    ],
  ],
  [
    'a branch that is none',
    'projects: [{path: p, files: {a: b}, branches: {../x: main}}]',
    ['w.yml:1:48: a branch cannot be called "../x"'],
  ],
  [
    'a branch below another',
    'projects: [{path: p, files: {a: b}, branches: {main/x: main}}]',
    ['w.yml:1:12: it cannot have a branch "main/x" beside one called "main"'],
  ],
  [
    'a merge request of no branch',
    'projects: [{path: p, files: {a: b}, merge_requests: [{title: t, source_branch: x}]}]',
    ['w.yml:1:65: the project has no branch "x"'],
  ],
  [
    'a pipeline twice',
    'projects: [{path: p, files: {a: b}, pipelines: [{jobs: {j: failed}}, {ref: main}]}]',
    ['w.yml:1:70: the pipeline of "main" is described twice'],
  ],
  [
    'a secret that is missing',
    "applications: [{name: n, id: abcdefgh, redirect_uris: ['https://a.example']}]",
    ['w.yml:1:16: a confidential application has a "secret", or the "sha256" of one'],
  ],
];

test.each(bad)('%s is refused', (_, text, problems) => {
  expect(problemsOf(text)).toEqual(problems);
});

test.each([...good, ...bad].map(([what, text]) => [what, text] as const))(
  'the published schema says the same of %s',
  (_, text) => {
    const { value, misread } = readDocument(text);
    const found = structureProblems(SeedDocument, value, 100).filter(({ message }) => !/NUL/.test(message));
    if (misread.length === 0) expect(Schema.Check(SeedDocument, value)).toBe(found.length === 0);
  },
);

test('twenty problems are told at once', () => {
  const lines = Array.from({ length: 50 }, () => '- {}').join('\n');
  expect(problemsOf(`users:\n${lines}`)).toHaveLength(20);
  const projects = Array.from({ length: 50 }, (_, i) => `- {path: none/p${i}}`).join('\n');
  expect(problemsOf(`projects:\n${projects}`)).toHaveLength(20);
});

const hostile: [string, string, string][] = [
  ['aliases of aliases', bomb(), 'its aliases make too much of it'],
  ['brackets', `users: ${'['.repeat(100_000)}`, 'it is nested deeper than 50 levels'],
  ['megabytes', `users: "${'x'.repeat(MAX_LENGTH)}"`, 'it is longer than 32 MiB'],
];

test.each(hostile)('%s are refused', (_, text, problem) => {
  const [found, ...others] = problemsOf(text);
  expect(others).toEqual([]);
  expect(found).toMatch(/^w\.yml:\d+:\d+: /);
  expect(found).toContain(problem);
});

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 12; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return lines.join('\n');
}

test('__proto__ is a key as any other, and changes nothing', () => {
  expect(problemsOf('{"__proto__": {"polluted": true}}')).toEqual([
    'w.yml:1:2: there is no "__proto__" here, but $schema, users, groups, projects, and applications',
  ]);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('a name of a document with a thousand keys of one object is read once', () => {
  const files = Array.from({ length: 20_000 }, (_, i) => `    f${i}: a`).join('\n');
  expect(problemsOf(`projects:\n- path: p\n  files:\n${files}\n    f1: b`)).toEqual([
    'w.yml:20004:5: "f1" is there twice',
  ]);
});
