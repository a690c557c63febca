import { expect, test } from 'vitest';
import { conflict, Failure, forbidden, invalid, notFound } from '../../platform/failure.ts';
import { formProblems } from './form-problems.ts';

const names = ['name', 'username', 'minimum_length'];

test.each([
  ['one of a field', invalid({ name: ["can't be blank"] }), { name: "This can't be blank." }, []],
  ['several of a field', invalid({ name: ['is short', 'is odd'] }), { name: 'This is short, is odd.' }, []],
  ['one of a part', invalid({ name: { first: ['is odd'] } }), { name: 'This is odd.' }, []],
  [
    'one of no field',
    invalid({ email: ['is odd'], base: ['a value is too long'] }),
    {},
    ['email is odd', 'a value is too long'],
  ],
  [
    'values that would do',
    new Failure(
      'bad_request',
      { minimum_length: ['does not have a valid value'] },
      { errorDescription: 'minimum_length takes 8 to 128' },
    ),
    { minimum_length: 'This does not have a valid value; it takes 8 to 128.' },
    [],
  ],
  [
    'a sentence about a field',
    conflict('Username has already been taken'),
    { username: 'Username has already been taken' },
    [],
  ],
  ['a sentence', forbidden('An internal user cannot be changed'), {}, ['An internal user cannot be changed']],
  ['sentences', new Failure('unprocessable', ['One', 'Two']), {}, ['One', 'Two']],
])('%s', (_case, error, fields, general) => {
  const problems = formProblems(error, names);
  expect([Object.fromEntries(problems.fields), problems.general]).toEqual([fields, general]);
});

test.each([notFound('User'), new Failure('unavailable', 'Down'), new Error('ours')])(
  '%s is thrown on',
  (error) => {
    expect(() => formProblems(error, names)).toThrow(error);
  },
);
