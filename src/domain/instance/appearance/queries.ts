/** Statements over the one row of the appearance. */
import { type Appearance, noAppearance } from '../../../kernel/instance/appearance.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';

const columns = Object.keys(noAppearance) as (keyof Appearance)[];

/** The appearance, or that of an instance without any. */
export const selectAppearance = async (db: Db): Promise<Appearance> =>
  (await db.selectFrom('appearance').select(columns).executeTakeFirst()) ?? noAppearance;

/** The row, made where there was none, locked until the transaction ends. */
export const lockAppearance = (tx: Db): Promise<Appearance> =>
  tx
    .insertInto('appearance')
    .values({ id: 1, ...noAppearance, updated_at: now() })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ id: 1 }))
    .returning(columns)
    .executeTakeFirstOrThrow();
