/** Which kinds of events any hook at all is told of: facts that nobody listens to cost nothing more. */
import type { Needs } from '../../../kernel/services.ts';
import { createRecent, untilOutdated } from '../../../platform/recent.ts';
import { selectListenedFlags } from './queries.ts';

export type ListenedFlags = {
  read(): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** After the commit of a hook: resolves when every process counts with it. */
  changed(): Promise<void>;
};

export function createListenedFlags({ database, presence }: Needs<'database' | 'presence'>): ListenedFlags {
  const { read, forget } = createRecent(() => selectListenedFlags(database.background));
  return {
    read,
    async changed() {
      forget();
      await untilOutdated(presence);
    },
  };
}
