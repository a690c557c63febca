import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';
import type { Level } from '../../../kernel/namespaces/notification-levels.ts';
import { writeSettings } from './actions.ts';
import type { SettingScope } from './notification-settings.ts';
import { gatherSettings, type SettingRow, settingsOf } from './queries.ts';

const app = useApp();

it('gathers what bears on a place, nearest first, and for those who said nothing the defaults', async () => {
  const { db } = app.app.services.database;
  const [said, silent] = [await makeUser(app), await makeUser(app)];
  const top = await makeGroup(app);
  const inner = await makeGroup(app, { parent_id: top.id });
  const project = await makeProject(app, { namespace_id: inner.id });
  const beside = await makeProject(app, { namespace_id: inner.id });
  const say = (scope: SettingScope, level: Level) =>
    writeSettings(db, said.id, scope, { level, events: { new_note: true } });
  await say({ kind: 'group', id: top.id }, 'watch');
  await say({ kind: 'group', id: inner.id }, 'custom');
  await say({ kind: 'project', id: project.id }, 'mention');
  await say({ kind: 'project', id: beside.id }, 'disabled');
  await say({ kind: 'global' }, 'global');
  await db.updateTable('users').set({ notified_of_own_activity: true }).where('id', '=', said.id).execute();

  const settings = async (projectId: number | undefined, ancestorIds: readonly number[]) => {
    const { rows } = await sql<{ settings: SettingRow[]; own: boolean }>`
      select ${settingsOf({ projectId, ancestorIds })} as settings, u.notified_of_own_activity as own
      from users u where u.id in (${said.id}, ${silent.id}) order by u.id`.execute(db);
    return rows.map((row) => gatherSettings(row.settings, ancestorIds, row.own));
  };
  const events = { new_note: true };
  expect(await settings(project.id, [top.id, inner.id])).toEqual([
    {
      project: { level: 'mention', events },
      groups: [
        { level: 'custom', events },
        { level: 'watch', events },
      ],
      global: { level: 'participating', events },
      notifiedOfOwn: true,
    },
    { groups: [], global: { level: 'participating', events: {} }, notifiedOfOwn: false },
  ]);

  const [inGroup] = await settings(undefined, [top.id]);
  expect(inGroup).toEqual({
    groups: [{ level: 'watch', events }],
    global: { level: 'participating', events },
    notifiedOfOwn: true,
  });
});
