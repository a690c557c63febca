/** Registry of what other capabilities write when settings of a project change. */
import type { ProjectSettings } from '../../../../kernel/namespaces/project-settings.ts';
import { Registry } from '../../../../kernel/registry.ts';
import type { Db } from '../../../../platform/db/database.ts';

/** Writes, or refuses, in the transaction in which the project is made or changed, whose row is locked or new. */
export type SettingFollowUp = (tx: Db, projectId: number, changes: Partial<ProjectSettings>) => Promise<void>;

export const settingFollowUps = new Registry<SettingFollowUp>();
