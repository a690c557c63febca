/** Which errors say something of the database and of the machine. */
import { expect, test } from 'vitest';
import { Failure } from '../failure.ts';
import { isOutside } from './errors.ts';

const withCode = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });

test.each([
  [withCode('40001'), true],
  [withCode('57P01'), true],
  [withCode('XX000'), true],
  [withCode('CONNECTION_CLOSED'), true],
  [withCode('ECONNREFUSED', { syscall: 'connect' }), true],
  [withCode('EMFILE', { syscall: 'open' }), true],
  [withCode('Z_DATA_ERROR'), false],
  [withCode('ERR_INVALID_ARG_TYPE'), false],
  [new TypeError('undefined is not iterable'), false],
  [new Failure('not_found', '404 Not found'), false],
  [undefined, false],
])('%s is of the database or the machine: %j', (error, expected) => {
  expect(isOutside(error)).toBe(expected);
});
