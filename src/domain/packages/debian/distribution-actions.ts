/** Makes distributions, with the keys that sign their releases, changes and deletes them. */
import { lockParent } from '../../../kernel/access/own-row-queries.ts';
import {
  auditedParent,
  parentColumns,
  type ResourceParent,
} from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { invalid } from '../../../platform/failure.ts';
import { makeEd25519Key, parsePrivateKey, seal } from '../../../platform/secret.ts';
import { type DistributionRow, lockDistribution, selectNamesakes } from './distribution-queries.ts';
import type { DistributionChanges, NewDistribution } from './distribution-schema.ts';
import { publicKeyText } from './openpgp.ts';
import { ALL } from './rules.ts';

export type DistributionContext = {
  db: Db;
  services: Needs<'secretKey'>;
  actor: Actor;
  subject: ResourceParent;
};

const MAX_DISTRIBUTIONS = 100;

const inOrder = (words: readonly string[]): string[] => [...new Set(words)].sort();

/** The columns that the changes name. */
const columnsOf = ({ components, architectures, ...others }: DistributionChanges) => ({
  ...others,
  ...(components && { components: inOrder(components) }),
  ...(architectures && { architectures: inOrder([ALL, ...architectures]) }),
});

const audit = (tx: Db, { actor, subject }: DistributionContext, what: string, row: DistributionRow) =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `debian_distribution_${what}`,
      details: {
        target_id: row.id,
        target_type: 'Packages::Debian::Distribution',
        target_details: row.codename,
      },
    },
  });

/** Refuses a name that is another one's other name: programs ask by either. Their unique indexes see the rest. */
async function requireNames(
  tx: Db,
  subject: ResourceParent,
  names: { codename: string; suite: string | null },
): Promise<number> {
  const { count, codename_taken, suite_taken } = await selectNamesakes(tx, parentColumns(subject), names);
  if (codename_taken) throw invalid({ codename: ['has already been taken'] });
  if (suite_taken) throw invalid({ suite: ['has already been taken'] });
  return count;
}

export function createDistribution(
  context: DistributionContext,
  { codename, suite = null, ...input }: NewDistribution,
): Promise<DistributionRow> {
  const { db, services, subject } = context;
  return inTransaction(db, async (tx) => {
    await lockParent(tx, subject);
    if ((await requireNames(tx, subject, { codename, suite })) >= MAX_DISTRIBUTIONS)
      throw invalid({ base: [`there are ${MAX_DISTRIBUTIONS} distributions already`] });
    const time = now();
    const pem = makeEd25519Key();
    const row = await tx
      .insertInto('debian_distributions')
      .values({
        ...parentColumns(subject),
        ...{ codename, suite, components: ['main'], architectures: [ALL, 'amd64'] },
        ...columnsOf(input),
        private_key_sealed: seal(services.secretKey, pem),
        public_key: publicKeyText({ key: parsePrivateKey(pem), madeAt: time }, `Packages of ${codename}`),
        created_at: time,
        updated_at: time,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'created', row);
    return row;
  });
}

export function updateDistribution(
  context: DistributionContext,
  codename: string,
  changes: DistributionChanges,
): Promise<DistributionRow> {
  const { db, subject } = context;
  return inTransaction(db, async (tx) => {
    await lockParent(tx, subject);
    const { id, suite } = found(await lockDistribution(tx, parentColumns(subject), codename), 'Distribution');
    await requireNames(tx, subject, { codename, suite: changes.suite === undefined ? suite : changes.suite });
    const row = await tx
      .updateTable('debian_distributions')
      .set({ ...columnsOf(changes), updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'updated', row);
    return row;
  });
}

/** Its packages stay, in no distribution. */
export const deleteDistribution = (
  context: DistributionContext,
  codename: string,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.db, async (tx) => {
    const owner = parentColumns(context.subject);
    const row = found(await lockDistribution(tx, owner, codename), 'Distribution');
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('debian_distributions').where('id', '=', row.id).execute();
    await audit(tx, context, 'deleted', row);
  });
