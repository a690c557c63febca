/** Makes runners, changes, assigns and deletes them, and makes their tokens. */

import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { lockParent, lockProject } from '../../../kernel/access/own-row-queries.ts';
import { lockNamespace } from '../../../kernel/access/resource-parent-queries.ts';
import {
  auditedParent,
  isInstance,
  type ParentOrInstance,
  parentColumns,
} from '../../../kernel/access/resource-parents.ts';
import { type AuditedEntity, announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import type { PlanLimits } from '../../../kernel/instance/plan-limits.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { forbidden, notFound } from '../../../platform/failure.ts';
import { digest, randomText } from '../../../platform/secret.ts';
import type { IssuedToken } from './present.ts';
import { countRecent, lockRunner, type RunnerHome, selectAssignments } from './queries.ts';
import {
  expiryOf,
  REGISTRATION_PREFIX,
  type RegistrationType,
  type RunnerFields,
  type RunnerInput,
  type RunnerType,
  refuseAssignment,
  refuseDeletion,
  refuseProblems,
  refuseRemoval,
  requirePlace,
  runnerOf,
  tokenPrefix,
} from './rules.ts';

/** The actor is undefined where a runner asks itself. */
type Context = {
  services: Needs<'database' | 'instance'>;
  settings: ApplicationSettings;
  actor: Actor | undefined;
};
type ActorContext = Context & { actor: Actor };

const TOKEN_BYTES = 20;

const auditedHome = (home: RunnerHome): AuditedEntity =>
  home.type === 'instance_type'
    ? { type: 'InstanceScope', id: 1, path: 'instance' }
    : { type: home.type === 'group_type' ? 'Group' : 'Project', id: home.id, path: home.path };

type RunnerEvent =
  | 'registered'
  | 'created'
  | 'updated'
  | 'unregistered'
  | 'assigned_to_project'
  | 'unassigned_from_project'
  | 'token_reset';

const audit = (
  tx: Db,
  actor: Actor | undefined,
  entity: AuditedEntity,
  event: RunnerEvent,
  { id, description }: { id: number; description: string | null },
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity,
      event: `ci_runner_${event}`,
      details: { target_id: id, target_type: 'Ci::Runner', target_details: description ?? `#${id}` },
    },
  });

function issue({ settings }: Context, registration: RegistrationType, type: RunnerType) {
  const token = `${tokenPrefix(registration, type)}${randomText(TOKEN_BYTES)}`;
  return { token, digest: digest(token), token_expires_at: expiryOf(settings, type, now()) };
}

/** Holds the place of one more runner; 400 where there is none left. */
async function takePlace(tx: Db, home: RunnerHome, limits: PlanLimits): Promise<void> {
  if (home.type === 'instance_type') return;
  const { type, id } = home;
  await (type === 'group_type' ? lockNamespace(tx, id) : lockProject(tx, id));
  const { count } = await countRecent(tx, { type, id });
  requirePlace(type, count, limits);
}

/** Makes a runner; 400 for one that cannot be, or is one too many. */
export async function createRunner(
  context: Context,
  home: RunnerHome,
  input: RunnerInput,
  { registration, program = null }: { registration: RegistrationType; program?: string | null },
): Promise<IssuedToken> {
  const fields = runnerOf(input);
  refuseProblems(fields);
  const { limits } = await context.services.instance.read();
  return inTransaction(context.services.database.db, async (tx) => {
    await takePlace(tx, home, limits);
    const { token, ...issued } = issue(context, registration, home.type);
    const time = now();
    const { id } = await tx
      .insertInto('runners')
      .values({
        ...fields,
        ...issued,
        runner_type: home.type,
        namespace_id: home.type === 'group_type' ? home.id : null,
        creator_id: context.actor?.id ?? null,
        registration_type: registration,
        program,
        created_at: time,
        updated_at: time,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (home.type === 'project_type')
      await ahead(tx)
        .insertInto('runner_projects')
        .values({ runner_id: id, project_id: home.id, created_at: time })
        .execute();
    const event = registration === 'registration_token' ? 'registered' : 'created';
    await audit(tx, context.actor, auditedHome(home), event, { id, description: fields.description });
    return { id, token, expiresAt: issued.token_expires_at };
  });
}

/** Changes what the request names; 400 for a runner that cannot be. */
export const updateRunner = (context: ActorContext, id: number, input: RunnerInput): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = found(await lockRunner(tx, id), 'Runner');
    const { description, maintenance_note, paused, locked, run_untagged, tag_list } = row;
    const before: RunnerFields = {
      ...{ description, maintenance_note, paused, locked, run_untagged, tag_list },
      // The check constraint admits these only.
      access_level: row.access_level as RunnerFields['access_level'],
      maximum_timeout: row.maximum_timeout,
    };
    const after = runnerOf(input, before);
    refuseProblems(after);
    if (JSON.stringify(after) === JSON.stringify(before)) return;
    const changes = { ...after, updated_at: now() };
    await ahead(tx).updateTable('runners').set(changes).where('id', '=', id).execute();
    await audit(tx, context.actor, auditedHome(row.home), 'updated', {
      id,
      description: after.description,
    });
  });

/** Deletes the runner; 403 where several projects have it, unless an administrator, or it itself, asks. */
export const deleteRunner = (
  context: Context,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { actor } = context;
    const row = found(await lockRunner(tx, id), 'Runner');
    if (actor) refuseDeletion((await selectAssignments(tx, id)).length, actor.admin);
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('runners').where('id', '=', id).execute();
    await audit(tx, actor, auditedHome(row.home), 'unregistered', row);
  });

/** Makes another token in the place of the runner's; 403 where the given one is not it any more. */
export const resetToken = (context: Context, id: number, given?: Buffer): Promise<IssuedToken> =>
  inTransaction(context.services.database.db, async (tx) => {
    const row = await lockRunner(tx, id);
    if (given && !row?.digest.equals(given)) throw forbidden();
    if (!row) throw notFound('Runner');
    // The check constraint admits these only.
    const registration = row.registration_type as RegistrationType;
    const { token, ...issued } = issue(context, registration, row.runner_type);
    const changes = { ...issued, updated_at: now() };
    await ahead(tx).updateTable('runners').set(changes).where('id', '=', id).execute();
    await audit(tx, context.actor, auditedHome(row.home), 'token_reset', row);
    return { id, token, expiresAt: issued.token_expires_at };
  });

/** Gives the project a runner of others; 403 and 400 where it cannot have it. */
export const assignRunner = async (
  context: ActorContext & { subject: AuthorizedProject },
  id: number,
): Promise<void> => {
  const { limits } = await context.services.instance.read();
  await inTransaction(context.services.database.db, async (tx) => {
    const { actor, subject } = context;
    await lockParent(tx, subject);
    const row = found(await lockRunner(tx, id), 'Runner');
    const { count, has } = await countRecent(tx, { type: 'project_type', id: subject.id }, id);
    refuseAssignment(row, { has, admin: actor.admin });
    requirePlace('project_type', count, limits);
    await ahead(tx)
      .insertInto('runner_projects')
      .values({ runner_id: id, project_id: subject.id, created_at: now() })
      .execute();
    await audit(tx, actor, auditedParent(subject), 'assigned_to_project', row);
  });
};

/** Takes a runner from the project, which others have; 404 where it does not have it, 403 where it stays. */
export const unassignRunner = (
  context: ActorContext & { subject: AuthorizedProject },
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    const { actor, subject } = context;
    const row = found(await lockRunner(tx, id), 'Runner');
    const assigned = await selectAssignments(tx, id);
    const own = found(
      assigned.find(({ project_id }) => project_id === subject.id),
      'Runner',
    );
    refuseRemoval(row, { owns: own === assigned[0], admin: actor.admin });
    unmodified(own.created_at);
    await ahead(tx)
      .deleteFrom('runner_projects')
      .where('runner_id', '=', id)
      .where('project_id', '=', subject.id)
      .execute();
    await audit(tx, actor, auditedParent(subject), 'unassigned_from_project', row);
  });

/** Makes a registration token in the place of the one that there is. */
export async function resetRegistrationToken(
  { services, actor }: { services: Needs<'database'>; actor: Actor },
  parent: ParentOrInstance,
): Promise<string> {
  const token = `${REGISTRATION_PREFIX}${randomText(TOKEN_BYTES)}`;
  const row = { digest: digest(token), created_at: now() };
  await inTransaction(services.database.db, async (tx) => {
    await ahead(tx)
      .insertInto('runner_registration_tokens')
      .values({ ...row, ...(isInstance(parent) ? {} : parentColumns(parent)) })
      .onConflict((conflict) => conflict.columns(['project_id', 'namespace_id']).doUpdateSet(row))
      .execute();
    await announce(tx, {
      author: actor,
      audit: { entity: auditedParent(parent), event: 'ci_runner_registration_token_reset' },
    });
  });
  return token;
}
