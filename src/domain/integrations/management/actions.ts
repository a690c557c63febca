/** Sets integrations and turns them off. */
import {
  auditedParent,
  isProject,
  parentColumns,
  type ResourceParent,
} from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { badRequest } from '../../../platform/failure.ts';
import { patternCompiler } from '../../../platform/patterns/pattern.ts';
import { rulesOf } from '../../hooks/index.ts';
import type { Description, Properties } from '../kinds/description.ts';
import { type IntegrationRow, lockIntegration, ownIntegrations, selectIntegration } from './queries.ts';
import { propertiesAfter, requireGiven, requireGood } from './rules.ts';
import { propertyColumns, readProperties } from './secrets.ts';

export type IntegrationContext = {
  services: Needs<'database' | 'secretKey'>;
  settings: ApplicationSettings;
  actor: Actor;
  subject: ResourceParent;
};

const audit = (
  tx: Db,
  { actor, subject }: IntegrationContext,
  event: 'updated' | 'deleted',
  { id, slug }: IntegrationRow,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event: `integration_${event}`,
      details: { target_id: id, target_type: 'Integration', target_details: slug },
    },
  });

type Values = Pick<IntegrationRow, 'slug' | 'active' | 'events'> & ReturnType<typeof propertyColumns>;

/** Writes the parent's own; of two that are made at once the later one stays. */
function write(tx: Db, subject: ResourceParent, values: Values): Promise<IntegrationRow> {
  // What it failed by before may be mended now.
  const changed = { ...values, recent_failures: 0, paused_until: null, updated_at: now() };
  return tx
    .insertInto('integrations')
    .values({ ...changed, ...parentColumns(subject), created_at: changed.updated_at })
    .onConflict((conflict) =>
      conflict.columns([isProject(subject) ? 'project_id' : 'namespace_id', 'slug']).doUpdateSet(changed),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Sets the parent's own and makes it active, unless the request says otherwise of one that may be off; 400 for values that cannot be. */
export const setIntegration = (
  context: IntegrationContext,
  description: Description,
  changes: Properties,
): Promise<IntegrationRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { services, settings, subject } = context;
    const { slug, events: flags, mayBeOff } = description;
    requireGiven(description, changes);
    const row = await lockIntegration(tx, subject, slug);
    // One that was off has nothing to go by: its settings were reset.
    const before = row?.active ? row : undefined;
    const properties = propertiesAfter(
      description,
      before ? readProperties(services.secretKey, before) : {},
      changes,
    );
    requireGood(description, properties, rulesOf(settings, false), await patternCompiler());
    const events = flags.filter((flag) => changes[flag] ?? before?.events.includes(flag) ?? true);
    const columns = propertyColumns(services.secretKey, description, properties);
    const active = !(mayBeOff && changes.active === false);
    const integration = await write(tx, subject, { slug, active, events, ...columns });
    await audit(tx, context, 'updated', integration);
    return integration;
  });

/** Removes the parent's own, so that it has that of a group around; 400 where none has one. */
export const inheritIntegration = (
  context: IntegrationContext,
  { slug }: Description,
): Promise<IntegrationRow> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject } = context;
    await ahead(tx)
      .deleteFrom('integrations')
      .where(ownIntegrations(subject))
      .where('slug', '=', slug)
      .execute();
    const inherited = await selectIntegration(tx, subject, slug);
    if (!inherited) throw badRequest('there are no settings to inherit');
    await audit(tx, context, 'updated', inherited);
    return inherited;
  });

/** Turns it off, and forgets its settings; 404 where there is nothing to be turned off. */
export const disableIntegration = (
  context: IntegrationContext,
  description: Description,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { subject, services } = context;
    const { slug } = description;
    await lockIntegration(tx, subject, slug);
    unmodified(found(await selectIntegration(tx, subject, slug), 'Integration').updated_at);
    const columns = propertyColumns(services.secretKey, description, {});
    await audit(
      tx,
      context,
      'deleted',
      await write(tx, subject, { slug, active: false, events: [], ...columns }),
    );
  });
