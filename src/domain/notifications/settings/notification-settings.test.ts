import { expect, it } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { makeGroup, makeProject, makeUser } from '../../../../test/support/factories.ts';
import type { Level } from '../../../kernel/namespaces/notification-levels.ts';
import { writeSettings } from './actions.ts';
import type { SettingScope } from './notification-settings.ts';
import { settingsOf } from './queries.ts';

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

  const ancestorIds = [top.id, inner.id];
  const place = { projectId: project.id, ancestorIds };
  const settings = await settingsOf(db, [said.id, silent.id, 987_654], place);
  const events = { new_note: true };
  expect(Object.fromEntries(settings)).toEqual({
    [said.id]: {
      project: { level: 'mention', events },
      groups: [
        { level: 'custom', events },
        { level: 'watch', events },
      ],
      global: { level: 'participating', events },
      notifiedOfOwn: true,
    },
    [silent.id]: { groups: [], global: { level: 'participating', events: {} }, notifiedOfOwn: false },
  });

  const inGroup = await settingsOf(db, [said.id], { ancestorIds: [top.id] });
  expect(inGroup.get(said.id)).toEqual({
    groups: [{ level: 'watch', events }],
    global: { level: 'participating', events },
    notifiedOfOwn: true,
  });
  expect(await settingsOf(db, [], place)).toEqual(new Map());
});
