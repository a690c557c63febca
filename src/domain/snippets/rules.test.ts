/** Tables: who sees and changes a snippet, and the effects of a request on its files. */

import { describe, expect, test } from 'vitest';
import { INTERNAL, PRIVATE, PUBLIC } from '../../kernel/policy/roles.ts';
import { Failure } from '../../platform/failure.ts';
import { changeFiles, changesOf, checkFields, newFilesOf, readChanges } from './rules.ts';
import { decidePersonal, seesInProject } from './snippet-policy.ts';

const person = (id: number, more = {}) => ({ id, admin: false, auditor: false, external: false, ...more });
const people = {
  anonymous: undefined,
  author: person(1),
  other: person(2),
  external: person(3, { external: true }),
  auditor: person(4, { auditor: true }),
  admin: person(5, { admin: true }),
};

/** The message of the failure that the call throws. */
function refusal(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    if (error instanceof Failure) return error.publicMessage;
    throw error;
  }
  return undefined;
}

describe('personal snippets', () => {
  const levels = { private: PRIVATE, internal: INTERNAL, public: PUBLIC };
  const table: [keyof typeof levels, keyof typeof people, string, string][] = [
    ['private', 'anonymous', 'invisible', 'sign_in'],
    ['private', 'author', 'allowed', 'allowed'],
    ['private', 'other', 'invisible', 'invisible'],
    ['private', 'external', 'invisible', 'invisible'],
    ['private', 'auditor', 'allowed', 'refused'],
    ['private', 'admin', 'allowed', 'allowed'],
    ['internal', 'anonymous', 'invisible', 'sign_in'],
    ['internal', 'author', 'allowed', 'allowed'],
    ['internal', 'other', 'allowed', 'refused'],
    ['internal', 'external', 'invisible', 'invisible'],
    ['internal', 'auditor', 'allowed', 'refused'],
    ['internal', 'admin', 'allowed', 'allowed'],
    ['public', 'anonymous', 'allowed', 'sign_in'],
    ['public', 'author', 'allowed', 'allowed'],
    ['public', 'other', 'allowed', 'refused'],
    ['public', 'external', 'allowed', 'refused'],
    ['public', 'auditor', 'allowed', 'refused'],
    ['public', 'admin', 'allowed', 'allowed'],
  ];
  test.each(table)('%s, %s: reading is %s, changing %s', (level, who, reading, changing) => {
    const snippet = { author_id: 1, visibility: levels[level] };
    expect(decidePersonal('read_snippet', people[who], snippet)).toBe(reading);
    expect(decidePersonal('manage_snippet', people[who], snippet)).toBe(changing);
  });
});

test.each([
  [PRIVATE, 'other', 0, false],
  [PRIVATE, 'other', 10, true],
  [PRIVATE, 'external', 10, true],
  [PRIVATE, 'auditor', 0, true],
  [INTERNAL, 'other', 0, true],
  [INTERNAL, 'external', 0, false],
  [INTERNAL, 'anonymous', 0, false],
  [PUBLIC, 'anonymous', 0, true],
] as const)('visibility %i in a project, %s with role %i: %s', (visibility, who, role, sees) => {
  expect(seesInProject(people[who], { visibility }, role)).toBe(sees);
});

test.each([
  [{ action: 'create', content: 'x' }, { file_path: ["can't be blank"] }],
  [{ action: 'create', file_path: '', content: 'x' }, { file_path: ["can't be blank"] }],
  [{ action: 'create', file_path: 'a' }, { content: ["can't be blank"] }],
  [{ action: 'update', file_path: 'a', content: '' }, { content: ["can't be blank"] }],
  [
    { action: 'create', file_path: 'a', content: '12345678901' },
    { content: ['is too long (maximum is 10 bytes)'] },
  ],
  [
    { action: 'create', file_path: 'a', content: 'ä'.repeat(6) },
    { content: ['is too long (maximum is 10 bytes)'] },
  ],
  [{ action: 'move', file_path: 'a' }, { previous_path: ["can't be blank"] }],
  [{ action: 'move', file_path: 'a', previous_path: 'a' }, { files: ['have duplicated paths'] }],
  [{ action: 'create', file_path: '../a', content: 'x' }, { file_path: ['is invalid'] }],
  [{ action: 'create', file_path: '/etc/passwd', content: 'x' }, { file_path: ['is invalid'] }],
  [{ action: 'create', file_path: 'a/.git/config', content: 'x' }, { file_path: ['is invalid'] }],
  [{ action: 'create', file_path: 'a\nb', content: 'x' }, { file_path: ['is invalid'] }],
  [{ action: 'move', file_path: 'a', previous_path: '../b' }, { file_path: ['is invalid'] }],
] as const)('%o is refused', (change, message) => {
  expect(refusal(() => readChanges([change], 10))).toEqual(message);
});

test('a path is named once in a request', () => {
  const changes = [
    { action: 'create', file_path: 'a', content: 'x' },
    { action: 'move', file_path: 'b', previous_path: 'a' },
  ] as const;
  expect(refusal(() => readChanges(changes, 10))).toEqual({ files: ['have duplicated paths'] });
});

describe('changes of files', () => {
  const filesAfter = (paths: string[], changes: Parameters<typeof readChanges>[0]) =>
    Object.fromEntries(changeFiles(paths, readChanges(changes, 100)));

  test('all four, and what is not named stays', () => {
    expect(
      filesAfter(
        ['a', 'b', 'c', 'd', 'e'],
        [
          { action: 'create', file_path: 'new', content: 'n' },
          { action: 'update', file_path: 'a', content: 'A' },
          { action: 'delete', file_path: 'b' },
          { action: 'move', file_path: 'x/c', previous_path: 'c' },
          { action: 'move', file_path: 'x/d', previous_path: 'd', content: 'D' },
        ],
      ),
    ).toEqual({
      a: { content: 'A' },
      e: { was: 'e' },
      new: { content: 'n' },
      'x/c': { was: 'c' },
      'x/d': { content: 'D' },
    });
  });

  test.each([
    [{ action: 'create', file_path: 'a', content: 'x' }, 'a already exists'],
    [{ action: 'update', file_path: 'z', content: 'x' }, 'z does not exist'],
    [{ action: 'delete', file_path: 'z' }, 'z does not exist'],
    [{ action: 'move', file_path: 'b', previous_path: 'a' }, 'b already exists'],
    [{ action: 'move', file_path: 'y', previous_path: 'z' }, 'z does not exist'],
  ] as const)('%o does not fit', (change, text) => {
    expect(refusal(() => filesAfter(['a', 'b'], [change]))).toEqual({ files: [text] });
  });

  test('at least one file stays, and at most ten', () => {
    const paths = Array.from({ length: 10 }, (_, index) => `file${index}`);
    const one = { action: 'create', file_path: 'one-more', content: 'x' } as const;
    expect(refusal(() => filesAfter(['a'], [{ action: 'delete', file_path: 'a' }]))).toEqual({
      files: ["can't be blank"],
    });
    expect(refusal(() => filesAfter(paths, [one]))).toEqual({ files: ['are too many (maximum is 10)'] });
    expect(Object.keys(filesAfter(paths, [one, { action: 'delete', file_path: 'file0' }]))).toHaveLength(10);
  });
});

describe('the deprecated form', () => {
  test.each([
    [{}, []],
    [{ file_name: 'a' }, []],
    [{ content: 'x' }, [{ action: 'update', file_path: 'a', content: 'x' }]],
    [{ file_name: 'b' }, [{ action: 'move', file_path: 'b', previous_path: 'a' }]],
    [
      { file_name: 'b', content: 'x' },
      [{ action: 'move', file_path: 'b', previous_path: 'a', content: 'x' }],
    ],
  ])('%o is %o', (sent, changes) => {
    expect(changesOf(['a'], sent)).toEqual(changes);
  });

  test('is for one file', () => {
    expect(refusal(() => changesOf(['a', 'b'], { content: 'x' }))).toHaveProperty('files');
  });

  test('names a new file', () => {
    expect(newFilesOf({ file_name: 'a', content: 'x' })).toEqual([
      { action: 'create', file_path: 'a', content: 'x' },
    ]);
  });
});

test('a title, and a visibility that is not restricted', () => {
  const fields = { title: 'x', visibility: 'public', restricted: ['public'], admin: false } as const;
  expect(refusal(() => checkFields({ ...fields, title: ' ' }))).toEqual({ title: ["can't be blank"] });
  expect(refusal(() => checkFields(fields))).toHaveProperty('visibility_level');
  expect(refusal(() => checkFields({ ...fields, admin: true }))).toBeUndefined();
  expect(refusal(() => checkFields({ ...fields, visibility: undefined }))).toBeUndefined();
});
