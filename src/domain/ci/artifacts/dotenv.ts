/** Variables that a script hands to later jobs, in a file of lines (facts for CI: dotenv). Pure. */
import { gunzipSync } from 'node:zlib';
import { Failure } from '../../../platform/failure.ts';
import type { DotenvLimits } from './rules.ts';

const MAX_KEY_LENGTH = 255;

export type DotenvVariable = { key: string; value: string };

const refused = (message: string, cause?: unknown): Failure => new Failure('bad_request', message, { cause });

function unpack(packed: Buffer, bytes: number): string {
  try {
    return gunzipSync(packed, { maxOutputLength: bytes }).toString('utf8');
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? refused(`Dotenv Artifact Too Big. Maximum Allowable Size: ${bytes}`)
      : refused('Invalid Format', error);
  }
}

/** The variables of the packed file, each key once; 400 for what is none, too long or too many. */
export function parseDotenv(packed: Buffer, most: DotenvLimits): DotenvVariable[] {
  const text = unpack(packed, most.bytes).replace(/^\uFEFF/, '');
  const variables = new Map<string, string>();
  for (const line of text.replace(/\r?\n$/, '').split('\n')) {
    if (text === '') break;
    const at = line.indexOf('=');
    if (at < 0) throw refused('Invalid Format');
    const key = line.slice(0, at).trim();
    if (!/^\w+$/.test(key)) throw refused("Validation failed: Key can contain only letters, digits and '_'.");
    if (key.length > MAX_KEY_LENGTH)
      throw refused(`Validation failed: Key is too long (maximum is ${MAX_KEY_LENGTH} characters)`);
    // PostgreSQL and environments take no NUL.
    variables.set(
      key,
      line
        .slice(at + 1)
        .trim()
        .replaceAll('\0', ''),
    );
  }
  if (variables.size > most.variables)
    throw refused(`Dotenv files cannot have more than ${most.variables} variables`);
  return [...variables].map(([key, value]) => ({ key, value }));
}
