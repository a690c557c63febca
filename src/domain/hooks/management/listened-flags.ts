/** Which kinds of events anybody at all is told of: facts that nobody listens to cost nothing more. */
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { createRecent, untilOutdated } from '../../../platform/recent.ts';

export type ListenedFlags = {
  read(): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** After the commit of a change: resolves when every process counts with it. */
  changed(): Promise<void>;
};

export function createListenedFlags(
  { database, presence }: Needs<'database' | 'presence'>,
  select: (db: Db) => Promise<ReadonlySet<string>>,
): ListenedFlags {
  const { read, forget } = createRecent(() => select(database.background));
  return {
    read,
    async changed() {
      forget();
      await untilOutdated(presence);
    },
  };
}
