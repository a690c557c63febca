/** What the spam gate keeps: for a while, and as long as there is the user who wrote it. */
import type { Capability } from '../../core/capability.ts';
import type { Services } from '../../core/services.ts';
import { sweepSpamLogs } from '../../core/spam/spam-logs.ts';

const SWEEP = 'spam.sweep_logs';

export const spamCapability = (services: Services): Capability => ({
  name: 'spam',
  endpoints: [],
  tables: ['spam_logs'],
  tasks: { [SWEEP]: () => sweepSpamLogs(services.database.background) },
  schedules: [{ task: SWEEP, pattern: '11 4 * * *' }],
  // There is nothing in them that a ghost could have written.
  async reassign(tx, userId) {
    await tx.deleteFrom('spam_logs').where('user_id', '=', userId).execute();
  },
});
