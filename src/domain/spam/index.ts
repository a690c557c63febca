/** Records of the spam check: kept for a while, and until their user is deleted. */

import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { forgetSpamLogs, sweepSpamLogs } from './log-actions.ts';

export { isReadByAnybody } from './audience.ts';
export { checkSpam } from './spam-check.ts';

const SWEEP = 'spam.sweep_logs';

export const spamCapability = (services: Needs<'database'>): Capability => ({
  name: 'spam',
  endpoints: [],
  tables: ['spam_logs'],
  tasks: { [SWEEP]: () => sweepSpamLogs(services.database.background) },
  schedules: [{ task: SWEEP, pattern: '11 4 * * *' }],
  // A spam log has no text that could become the ghost's.
  reassign: forgetSpamLogs,
});
