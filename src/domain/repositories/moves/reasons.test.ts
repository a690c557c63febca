/** The sentences that administrators read in failed moves. */
import { expect, test } from 'vitest';
import { Failure } from '../../../platform/failure.ts';
import { BadCopy } from '../../../platform/git/copies/check.ts';
import { GitError, NoRepository } from '../../../platform/git/program/program.ts';
import { MoveProblem, reasonOf } from './reasons.ts';

const withCode = (code: string): Error => Object.assign(new Error(`${code}: open '/secret/place'`), { code });

test.each<[unknown, string]>([
  [new MoveProblem('It is so.'), 'It is so.'],
  [new BadCopy('The object is damaged.'), 'The object is damaged.'],
  [new NoRepository('/secret/place'), 'The source has no repository that git can read.'],
  [
    new GitError(['for-each-ref'], 128, 'fatal: bad object\nmore\n'),
    'The source cannot be read: fatal: bad object.',
  ],
  [withCode('ENOSPC'), 'There is no space left on the destination.'],
  [withCode('EDQUOT'), 'The quota of the destination is used up.'],
  [withCode('EROFS'), 'The destination is read-only.'],
  [withCode('EACCES'), 'The destination cannot be written (EACCES).'],
  [withCode('ENOTDIR'), 'The destination cannot be written (ENOTDIR).'],
  [withCode('EIO'), 'A disk failed to read or to write.'],
  [
    new Failure('unavailable', '503 Service Unavailable', { cause: withCode('ENOSPC') }),
    'There is no space left on the destination.',
  ],
  [new Error('what nobody thought of'), 'The move failed: what nobody thought of'],
  ['text', 'The move failed: text.'],
])('%s', (error, reason) => expect(reasonOf(error)).toBe(reason));
