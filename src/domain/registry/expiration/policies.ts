/** Runs the expiration policies of projects when their time has come. */
import type { ContainerExpirationPolicy } from '../../../kernel/namespaces/expiration-policy.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { removeTags } from '../tags/removal.ts';
import { ageIn } from '../tags/rules.ts';
import { beginPolicy, lockDue, selectCleanedIds } from './actions.ts';

const selectionOf = ({ name_regex, name_regex_keep, keep_n, older_than }: ContainerExpirationPolicy) => {
  const age = older_than === null ? undefined : ageIn(older_than);
  return {
    delete: name_regex ?? '',
    keep: name_regex_keep || null,
    keepNewest: keep_n ?? 0,
    before: age === undefined ? null : new Date(now().getTime() - age).toISOString(),
  };
};

/** One project's; false where none is due. */
const runOne = (db: Db): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const due = await lockDue(tx);
    if (!due) return false;
    const selection = selectionOf(due.policy);
    let last = 0;
    for (;;) {
      const ids = await selectCleanedIds(tx, due.id, last);
      await removeTags(
        tx,
        ids.map((repository_id) => ({ repository_id, level: null, selection })),
      );
      const end = ids.at(-1);
      if (end === undefined) break;
      last = end;
    }
    await beginPolicy(tx, due);
    return true;
  });

export async function runPolicies(db: Db): Promise<void> {
  while (await runOne(db));
}
