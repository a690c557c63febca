/** Names of secure files (facts-ci: 7.6). Pure. */
import { extname } from 'node:path';
import { Failure, invalid } from '../../../platform/failure.ts';

const NAME = /^[\w .-]{1,255}$/;

/** The name of a new file; 400 without one, and for one that is none. */
export function nameOf(given: string | undefined): string {
  if (given === undefined || given === '')
    throw new Failure('bad_request', '400 Bad request - "name" not given', { error: 'name is missing' });
  if (!NAME.test(given) || given.trim() === '' || /^\.+$/.test(given))
    throw invalid({ name: ["can contain only letters, digits, '_', '-', '.' and spaces, 255 at most"] });
  return given;
}

/** Without the dot; null for a name without one. */
export const extensionOf = (name: string): string | null => extname(name).slice(1) || null;
