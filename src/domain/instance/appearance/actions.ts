/** Changes how the instance looks. */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type AvatarChange, keepAvatar } from '../../../kernel/files/pictures.ts';
import { type Appearance, appearancePictures, noAppearance } from '../../../kernel/instance/appearance.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { type ChangeServices, changeInstance, instanceEntity } from '../changes.ts';
import { lockAppearance } from './queries.ts';
import type { UpdateAppearance } from './schema.ts';

export type AppearanceChange = Omit<UpdateAppearance, (typeof appearancePictures)[number]> &
  Record<(typeof appearancePictures)[number], AvatarChange>;

/** Changes the properties that the request names; null removes a picture. */
export const changeAppearance = (
  services: ChangeServices,
  db: Db,
  actor: Actor,
  change: AppearanceChange,
): Promise<Appearance> =>
  changeInstance(services, () =>
    inTransaction(db, async (tx) => {
      // Blobs are locked before the rows that name them.
      const kept: Partial<Appearance> = {};
      for (const name of appearancePictures) {
        const picture = await keepAvatar(tx, change[name]);
        if (picture !== undefined) kept[name] = picture;
      }
      const before = await lockAppearance(tx);
      const { logo: _1, header_logo: _2, favicon: _3, pwa_icon: _4, ...texts } = change;
      const after = { ...before, ...texts, ...kept };
      const names = (Object.keys(noAppearance) as (keyof Appearance)[]).filter(
        (name) => before[name] !== after[name],
      );
      if (names.length === 0) return before;
      await tx
        .updateTable('appearance')
        .set({ ...Object.fromEntries(names.map((name) => [name, after[name]])), updated_at: now() })
        .where('id', '=', 1)
        .execute();
      for (const name of names)
        await announce(tx, {
          author: actor,
          audit: {
            entity: instanceEntity,
            event: 'appearance_updated',
            details: { change: name, from: before[name], to: after[name] },
          },
        });
      return after;
    }),
  );
