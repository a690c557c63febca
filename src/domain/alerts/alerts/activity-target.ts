/** Alerts in activity feeds: notes on them. */
import { sql } from 'kysely';
import type { ActivityTarget } from '../../../kernel/activity/targets.ts';

export const alertActivityTarget: ActivityTarget = {
  noteColumn: 'alert_id',
  abilities: ['read_alerts'],
  isVisible: () => sql`v.read_alerts`,
};
