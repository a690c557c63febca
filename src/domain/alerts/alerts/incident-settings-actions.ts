/** Reads and writes a project's incident settings. */

import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import type { IncidentSettingsRecord } from './schema.ts';

/** Settings of a project without a row (facts: Alerts, incident settings). */
const defaults: IncidentSettingsRecord = {
  create_issue: false,
  issue_template_key: null,
  send_email: false,
  auto_close_incident: true,
};

export const columns = ['create_issue', 'issue_template_key', 'send_email', 'auto_close_incident'] as const;

export const selectSettings = async (db: Db, projectId: number): Promise<IncidentSettingsRecord> =>
  (await db
    .selectFrom('incident_settings')
    .select(columns)
    .where('project_id', '=', projectId)
    .executeTakeFirst()) ?? defaults;

export const changeSettings = (
  db: Db,
  actor: Actor,
  project: AuthorizedProject,
  changes: Partial<IncidentSettingsRecord>,
): Promise<IncidentSettingsRecord> =>
  inTransaction(db, async (tx) => {
    const set = { ...changes, updated_at: now() };
    const settings = await tx
      .insertInto('incident_settings')
      .values({ project_id: project.id, ...defaults, ...set })
      .onConflict((known) => known.column('project_id').doUpdateSet(set))
      .returning(columns)
      .executeTakeFirstOrThrow();
    await announce(tx, {
      author: actor,
      audit: {
        entity: { type: 'Project', id: project.id, path: project.fullPath },
        event: 'incident_management_settings_updated',
        details: { change: Object.keys(changes).join(', ') },
      },
    });
    return settings;
  });
