/** The sweep of images in the data folder. */
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useApp } from '../../../test/support/app.ts';
import { makeGroup, makeProject, makeUser } from '../../../test/support/rows.ts';
import { storeAvatar } from '../../kernel/files/pictures.ts';
import { UploadedFile } from '../../platform/http/parameters/raw-parameters.ts';
import { sweepPictures } from './picture-sweep.ts';

const ashlar = useApp();
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

test('old pictures that nobody shows go; shown and young ones stay', async () => {
  const { config, database } = ashlar.app.services;
  const { db } = database;
  const store = async (text: string) =>
    storeAvatar(config.data, new UploadedFile('a.png', 'image/png', Buffer.concat([PNG, Buffer.from(text)])));
  const fileOf = (name: string) =>
    join(config.data, 'uploads', name.slice(0, 2), name.split('/', 1)[0] ?? '');
  const age = (name: string) => utimesSync(fileOf(name), new Date(0), new Date(0));

  const [group, user] = [await makeGroup(ashlar), await makeUser(ashlar)];
  const project = await makeProject(ashlar, { of: group });
  const shown = { users: user.id, namespaces: group.id, projects: project.id };
  const kept: string[] = [];
  for (const [table, id] of Object.entries(shown) as [keyof typeof shown, number][]) {
    const avatar = await store(table);
    await db.updateTable(table).set({ avatar }).where('id', '=', id).execute();
    kept.push(avatar);
  }
  const gone = [await store('replaced'), await store('refused')];
  const uploadedAgain = await store('again');
  for (const name of [...kept, ...gone, uploadedAgain]) age(name);
  await store('again');
  const young = await store('young');
  const draft = `${gone[0]?.slice(0, 2)}/.draft-of-a-killed-process`;
  mkdirSync(join(config.data, 'uploads'), { recursive: true });
  writeFileSync(join(config.data, 'uploads', draft), '');
  utimesSync(join(config.data, 'uploads', draft), new Date(0), new Date(0));

  expect(await sweepPictures(db, config.data)).toBe(gone.length + 1);
  expect(gone.filter((name) => existsSync(fileOf(name)))).toEqual([]);
  for (const name of [...kept, young, uploadedAgain])
    expect([name, existsSync(fileOf(name))]).toEqual([name, true]);
  expect(await sweepPictures(db, config.data)).toBe(0);
});

test('a data folder without pictures is nothing to sweep', async () => {
  expect(await sweepPictures(ashlar.app.services.database.db, '/nonexistent')).toBe(0);
});
