/** Backups by the clock: made in a folder, kept by number, and watched. */
import { adminNotices, minuteText } from '../../kernel/api/admin-page.ts';
import type { Capability } from '../../kernel/capability.ts';
import type { Config } from '../../kernel/config.ts';
import type { Needs } from '../../kernel/services.ts';
import { now } from '../../platform/clock.ts';
import { latestBackup } from './folder.ts';
import { isLate } from './rules.ts';
import { createScheduledBackups } from './scheduled.ts';

export { baseOf, indexOf, prune } from './folder.ts';
export { backupName } from './rules.ts';

const BACK_UP = 'backups.back_up';

export type BackupState = { is: 'unset' } | { is: 'none' } | { is: 'made' | 'late'; at: Date; bytes: number };

/** How it stands with the backups by the clock. */
export async function backupState({
  backups,
  backupSchedule,
}: Pick<Config, 'backups' | 'backupSchedule'>): Promise<BackupState> {
  if (backups === undefined) return { is: 'unset' };
  const latest = await latestBackup(backups);
  if (!latest) return { is: 'none' };
  return { ...latest, is: isLate(latest.at, backupSchedule, now()) ? 'late' : 'made' };
}

export function backupsCapability(services: Needs<'config' | 'log'>): Capability {
  const { config } = services;
  const scheduled = createScheduledBackups(services);
  return {
    name: 'backups',
    endpoints: [],
    tasks: { [BACK_UP]: async () => scheduled.begin() },
    schedules: config.backups === undefined ? [] : [{ task: BACK_UP, pattern: config.backupSchedule }],
    background: { start() {}, stop: scheduled.stop },
    registrations: [
      adminNotices.add(async () => {
        const state = await backupState(config);
        if (state.is === 'none') return { text: 'No backup has been made yet.', path: '/admin/health' };
        if (state.is !== 'late') return undefined;
        return { text: `The last backup is of ${minuteText(state.at)}.`, path: '/admin/health' };
      }),
    ],
    gauges: [
      {
        name: 'backup_age_seconds',
        help: 'Since the latest backup in ASHLAR_BACKUPS was whole; nothing without one.',
        labels: [],
        async read() {
          const state = await backupState(config);
          return 'at' in state ? [{ labels: {}, value: (now().getTime() - state.at.getTime()) / 1_000 }] : [];
        },
      },
    ],
    tables: [],
  };
}
