/** Leads programs to the public registries, where settings say so. */
import { Reply } from '../../../kernel/api/endpoint.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { selectPackageSettings } from '../records/settings-queries.ts';
import { type Level, selectIsKnown } from './queries.ts';
import { type ForwardedFormat, isForwarding } from './rules.ts';

type Context = { db: Db; settings: ApplicationSettings };

export const isForwarded = async (
  { db, settings }: Context,
  format: ForwardedFormat,
  { above }: Level,
): Promise<boolean> => isForwarding(format, settings, await selectPackageSettings(db, above));

/** For a name that was not found for the caller; undefined where it is answered that it is not there. */
export async function forwarded(
  context: Context,
  format: ForwardedFormat,
  level: Level,
  name: string,
  location: string,
): Promise<Reply<never> | undefined> {
  if (!(await isForwarded(context, format, level))) return undefined;
  // One that only others read stays here: the public registry is not asked for it, and nothing of that name comes from there.
  if (await selectIsKnown(context.db, level, format, name)) return undefined;
  return new Reply<never>(302, undefined, { location });
}
