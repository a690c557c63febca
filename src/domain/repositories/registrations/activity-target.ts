/** Commits in activity feeds: notes on them. */
import { sql } from 'kysely';
import type { ActivityTarget } from '../../../kernel/activity/targets.ts';

export const commitActivityTarget: ActivityTarget = {
  noteColumn: 'commit_sha',
  abilities: ['read_code'],
  isVisible: () => sql`v.read_code`,
};
