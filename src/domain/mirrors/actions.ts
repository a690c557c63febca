/** Makes mirrors, changes and deletes them, and asks for their runs. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { lockProject } from '../../kernel/access/own-row-queries.ts';
import { auditedParent } from '../../kernel/access/resource-parents.ts';
import { announce } from '../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../kernel/actor.ts';
import { found } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../platform/db/database.ts';
import { badRequest, forbidden, invalid } from '../../platform/failure.ts';
import { patternProblem } from '../../platform/patterns/pattern.ts';
import { findUserOfProject } from '../conversation/index.ts';
import { rulesOf } from '../hooks/index.ts';
import { addressOf, sealCredentials } from './credentials.ts';
import { countPushMirrors, lockPushMirror, lockSource, type MirrorRow } from './queries.ts';
import { type Address, isCredential, parseAddress } from './remote/address.ts';
import { pushAt, requestedPullAt } from './rules.ts';
import type { CreateRemoteMirror, PushChanges, SetPullMirror } from './schema.ts';

export type MirrorContext = {
  services: Needs<'config' | 'database' | 'secretKey'>;
  settings: ApplicationSettings;
  actor: Actor;
  subject: AuthorizedProject;
};

/** Push mirrors of a project that are on, and all of them (facts: packages §5.2). */
const MAX_ENABLED = 10;
const MAX_MIRRORS = 50;

/** 403 where only administrators set up mirrors. */
export function requireAvailable({ mirror_available }: ApplicationSettings, actor: Actor): void {
  if (!mirror_available && !actor.admin) throw forbidden();
}

const audit = (
  tx: Db,
  { actor, subject }: Pick<MirrorContext, 'actor' | 'subject'>,
  event: string,
  { id, url }: Pick<MirrorRow, 'id' | 'url'>,
): Promise<void> =>
  announce(tx, {
    author: actor,
    audit: {
      entity: auditedParent(subject),
      event,
      details: { target_id: id, target_type: 'Mirror', target_details: url },
    },
  });

/** The address; 400 with what is wrong with it under this name. */
export function requireAddress(settings: ApplicationSettings, written: string, property: string): Address {
  const parsed = parseAddress(written, rulesOf(settings, false));
  if ('problem' in parsed) throw invalid({ [property]: [parsed.problem] });
  return parsed;
}

async function requirePattern(pattern: string | null | undefined): Promise<void> {
  if (!pattern) return;
  const problem = await patternProblem(pattern);
  if (problem !== undefined) throw invalid({ mirror_branch_regex: [problem] });
}

const isMasked = ({ credentials }: Address): boolean => /^\**$/.test(credentials?.user ?? 'x');

/**
 * The address after a change. What opens one server is not told to another: a new address has no name and password of the old
 * one. A masked one, as records show it, changes nothing.
 */
function addressAfter(
  { services, settings }: MirrorContext,
  row: MirrorRow | undefined,
  { url, auth_user, auth_password }: Pick<SetPullMirror, 'url' | 'auth_user' | 'auth_password'>,
  property: string,
): Address | undefined {
  const before = row && addressOf(services.secretKey, row);
  const given = url === undefined ? undefined : requireAddress(settings, url, property);
  const named = given && isMasked(given) ? { url: given.url, credentials: undefined } : given;
  const kept = named === undefined || named.url === before?.url ? before : undefined;
  const base = named?.credentials || !kept ? named : kept;
  if (!base || (auth_user === undefined && auth_password === undefined)) return base;
  const credentials = {
    user: auth_user ?? base.credentials?.user ?? '',
    password: auth_password ?? base.credentials?.password ?? '',
  };
  if (
    credentials.user.includes(':') ||
    !isCredential(credentials.user) ||
    !isCredential(credentials.password)
  )
    throw invalid({ [property]: ['has a name or password that cannot be sent'] });
  return {
    url: base.url,
    credentials: credentials.user + credentials.password === '' ? undefined : credentials,
  };
}

export type PullChanges = SetPullMirror & { mirror_user_id?: number };

const started = (time: Date) =>
  ({ status: 'scheduled', due_at: time, failures: 0, is_told: false, last_error: null }) as const;

/** Checks a change of where a project comes from before anything is written. */
export async function requirePullChanges(
  { settings, actor }: Pick<MirrorContext, 'settings' | 'actor'>,
  changes: PullChanges,
): Promise<void> {
  requireAvailable(settings, actor);
  await requirePattern(changes.mirror_branch_regex);
}

/** 403 for another user in whose name is to be pulled, unless an administrator says so; 400 for one who may not. */
export async function requireUser(
  { services, actor, subject }: MirrorContext,
  wished: number | undefined,
): Promise<void> {
  if (wished === undefined || wished === actor.id) return;
  if (!actor.admin) throw forbidden();
  const user = await findUserOfProject(services, subject.id, wished);
  if (!user?.project.may('manage_mirrors')) throw invalid({ mirror_user_id: ['is invalid'] });
}

/** Sets where the project is pulled from, in the transaction; `property` is the name of the address in messages. */
export async function setSource(
  tx: Db,
  context: MirrorContext,
  changes: PullChanges,
  property: 'url' | 'import_url',
): Promise<MirrorRow> {
  const { services, subject } = context;
  await lockProject(tx, subject.id);
  const row = await lockSource(tx, subject);
  const address = addressAfter(context, row, changes, property);
  if (!address) throw invalid({ [property]: ["can't be blank"] });
  const enabled = changes.enabled ?? row?.enabled ?? false;
  const only_protected = changes.only_mirror_protected_branches ?? row?.only_protected ?? null;
  const branch_regex =
    changes.mirror_branch_regex === undefined
      ? (row?.branch_regex ?? null)
      : changes.mirror_branch_regex || null;
  if (only_protected && branch_regex !== null)
    throw invalid({ mirror_branch_regex: ['cannot be set with only_mirror_protected_branches'] });
  const time = now();
  const before = row && addressOf(services.secretKey, row);
  const isOther =
    before?.url !== address.url ||
    JSON.stringify(before?.credentials) !== JSON.stringify(address.credentials);
  const isNew = enabled && (!row?.enabled || isOther);
  const user =
    isNew || changes.mirror_user_id !== undefined || !row?.user_id
      ? (changes.mirror_user_id ?? context.actor.id)
      : row.user_id;
  const columns = {
    enabled,
    url: address.url,
    credentials_sealed: sealCredentials(services.secretKey, address.credentials),
    user_id: user,
    only_protected,
    branch_regex,
    overwrites: changes.mirror_overwrites_diverged_branches ?? row?.overwrites ?? null,
    trigger_builds: changes.mirror_trigger_builds ?? row?.trigger_builds ?? false,
    ...(isNew && started(time)),
    ...(!enabled && row?.enabled && { due_at: null, ...(row.status === 'scheduled' && { status: 'none' }) }),
    updated_at: time,
  };
  const written = row
    ? await tx
        .updateTable('mirrors')
        .set(columns)
        .where('id', '=', row.id)
        .returningAll()
        .executeTakeFirstOrThrow()
    : await tx
        .insertInto('mirrors')
        .values({ status: 'none', ...columns, project_id: subject.id, kind: 'pull', created_at: time })
        .returningAll()
        .executeTakeFirstOrThrow();
  await audit(tx, context, 'pull_mirror_updated', written);
  return written;
}

/** Sets where the project is pulled from; 400 for an address or pattern that is none. */
export async function setPullMirror(context: MirrorContext, changes: PullChanges): Promise<MirrorRow> {
  await requirePullChanges(context, changes);
  return inTransaction(context.services.database.db, (tx) => setSource(tx, context, changes, 'url'));
}

/** Has the project pulled soon, also where it was given up; 400 without a mirror. */
export async function askForPull({ services, settings, actor, subject }: MirrorContext): Promise<void> {
  requireAvailable(settings, actor);
  await inTransaction(services.database.db, async (tx) => {
    const row = await lockSource(tx, subject);
    if (!row?.enabled) throw badRequest('The project is not mirrored');
    const time = now();
    if (row.status === 'started' || row.status === 'scheduled') return;
    const due = requestedPullAt(row.last_update_started_at, time);
    await ahead(tx)
      .updateTable('mirrors')
      .set({ status: 'scheduled', due_at: due, failures: 0, is_told: false, updated_at: time })
      .where('id', '=', row.id)
      .execute();
  });
}

/** Where a new project comes from. */
export type Origin = { address: Address; changes: PullChanges };

/** Writes it with the project; it is brought at once. */
export async function insertSource(
  tx: Db,
  { secretKey }: Needs<'secretKey'>,
  projectId: number,
  userId: number,
  { address, changes }: Origin,
): Promise<void> {
  const time = now();
  await ahead(tx)
    .insertInto('mirrors')
    .values({
      ...started(time),
      project_id: projectId,
      kind: 'pull',
      enabled: changes.enabled ?? false,
      url: address.url,
      credentials_sealed: sealCredentials(secretKey, address.credentials),
      user_id: userId,
      only_protected: changes.only_mirror_protected_branches ?? null,
      branch_regex: changes.mirror_branch_regex || null,
      overwrites: changes.mirror_overwrites_diverged_branches ?? null,
      trigger_builds: changes.mirror_trigger_builds ?? false,
      created_at: time,
      updated_at: time,
    })
    .execute();
}

/** The columns of a push mirror that a request changes. */
function pushColumns(changes: PushChanges) {
  if (changes.auth_method === 'ssh_public_key')
    throw invalid({
      auth_method: ['ssh_public_key is not supported: use password, with an address by http or https'],
    });
  return {
    ...(changes.enabled !== undefined && { enabled: changes.enabled }),
    ...(changes.keep_divergent_refs !== undefined && { overwrites: !changes.keep_divergent_refs }),
    ...(changes.only_protected_branches !== undefined && { only_protected: changes.only_protected_branches }),
    ...(changes.mirror_branch_regex !== undefined && { branch_regex: changes.mirror_branch_regex || null }),
  };
}

function requireOneFilter({
  only_protected,
  branch_regex,
}: Pick<MirrorRow, 'only_protected' | 'branch_regex'>): void {
  if (only_protected && branch_regex !== null)
    throw invalid({ mirror_branch_regex: ['cannot be set with only_protected_branches'] });
}

/** Makes a mirror that the project is pushed to; 400 for an address that cannot be, and one too many. */
export async function createPushMirror(
  context: MirrorContext,
  { url, ...changes }: CreateRemoteMirror,
): Promise<MirrorRow> {
  const { services, settings, actor, subject } = context;
  requireAvailable(settings, actor);
  await requirePattern(changes.mirror_branch_regex);
  const address = requireAddress(settings, url, 'url');
  const time = now();
  const values = {
    enabled: false,
    overwrites: true,
    only_protected: false,
    branch_regex: null,
    ...pushColumns(changes),
  };
  requireOneFilter(values);
  return inTransaction(services.database.db, async (tx) => {
    await lockProject(tx, subject.id);
    await requireRoom(tx, subject, values.enabled);
    const row = await tx
      .insertInto('mirrors')
      .values({
        ...values,
        project_id: subject.id,
        kind: 'push',
        url: address.url,
        credentials_sealed: sealCredentials(services.secretKey, address.credentials),
        user_id: actor.id,
        status: 'none',
        created_at: time,
        updated_at: time,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'push_mirror_created', row);
    return row;
  });
}

/** 400 where the project has as many as it may; `added` of them are on. */
async function requireRoom(
  tx: Db,
  subject: AuthorizedProject,
  isEnabled: boolean,
  isNew = true,
): Promise<void> {
  const { all, enabled } = await countPushMirrors(tx, subject);
  if (isNew && all >= MAX_MIRRORS)
    throw invalid({ base: [`Maximum number of push mirrors (${MAX_MIRRORS}) exceeded`] });
  if (isEnabled && enabled >= MAX_ENABLED)
    throw invalid({ base: [`Maximum number of enabled push mirrors (${MAX_ENABLED}) exceeded`] });
}

/** Changes what the request names; 404 without the mirror. */
export async function updatePushMirror(
  context: MirrorContext,
  id: number,
  changes: PushChanges,
): Promise<MirrorRow> {
  const { services, settings, actor, subject } = context;
  requireAvailable(settings, actor);
  await requirePattern(changes.mirror_branch_regex);
  return inTransaction(services.database.db, async (tx) => {
    await lockProject(tx, subject.id);
    const row = found(await lockPushMirror(tx, subject, id), 'Remote Mirror');
    const columns = pushColumns(changes);
    requireOneFilter({ ...row, ...columns });
    if (columns.enabled && !row.enabled) await requireRoom(tx, subject, true, false);
    const written = await tx
      .updateTable('mirrors')
      .set({ ...columns, ...(columns.enabled === false && { due_at: null }), updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(tx, context, 'push_mirror_updated', written);
    return written;
  });
}

/** Deletes the mirror; what runs of it ends some seconds later. */
export const deletePushMirror = (
  context: MirrorContext,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    requireAvailable(context.settings, context.actor);
    const row = found(await lockPushMirror(tx, context.subject, id), 'Remote Mirror');
    unmodified(row.updated_at);
    await ahead(tx).deleteFrom('mirrors').where('id', '=', id).execute();
    await audit(tx, context, 'push_mirror_deleted', row);
  });

/** Has the mirror pushed to now; 400 where it is off or runs. */
export const askForPush = (context: MirrorContext, id: number): Promise<void> =>
  inTransaction(context.services.database.db, async (tx) => {
    requireAvailable(context.settings, context.actor);
    const row = found(await lockPushMirror(tx, context.subject, id), 'Remote Mirror');
    if (!row.enabled) throw badRequest('Mirror is disabled');
    if (row.status === 'started') throw badRequest('Mirror is already being updated');
    const time = now();
    await ahead(tx)
      .updateTable('mirrors')
      .set({ due_at: time, failures: 0, updated_at: time })
      .where('id', '=', id)
      .execute();
  });

/** After a push to the project, those that it goes on to are due. */
export async function askForPushes(db: Db, projectId: number): Promise<void> {
  await inTransaction(db, async (tx) => {
    const rows = await tx
      .selectFrom('mirrors')
      .select(['id', 'status', 'due_at', 'only_protected', 'last_update_started_at'])
      .where('project_id', '=', projectId)
      .where('kind', '=', 'push')
      .where('enabled', '=', true)
      .forUpdate()
      .execute();
    const time = now();
    for (const { id, status, due_at, only_protected, last_update_started_at: startedAt } of rows) {
      const next = pushAt({ startedAt, onlyProtected: only_protected ?? false }, time);
      // The run that is under way may have read the refs before.
      if (status !== 'started' && due_at !== null && due_at <= next) continue;
      await tx.updateTable('mirrors').set({ due_at: next }).where('id', '=', id).execute();
    }
  });
}
