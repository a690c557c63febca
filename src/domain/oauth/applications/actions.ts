/** Applications: their owners, and how they are made, changed, given a new secret and deleted. */
import { type Selectable, sql } from 'kysely';
import type { AuthorizedGroup, AuthorizedInstance } from '../../../kernel/access/find.ts';
import { type AuditedEntity, announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { found } from '../../../kernel/api/endpoint.ts';
import { countRevokedGrants } from '../../../kernel/identity/grant-actions.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import type { Sql } from '../../../platform/db/driver/sql.ts';
import type { OauthApplicationsTable } from '../../../platform/db/rows.ts';
import { badRequest } from '../../../platform/failure.ts';
import { type Page, type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import { digest, randomHex } from '../../../platform/secret.ts';
import { type ApplicationDraft, type Ends, endsOf } from './rules.ts';

export type ApplicationRow = Omit<Selectable<OauthApplicationsTable>, 'secret_digest'>;

/** The owner of applications: a person, a group, or the instance. */
export type Owner =
  | { of: 'user'; user: Actor }
  | { of: 'group'; group: AuthorizedGroup }
  | { of: 'instance'; instance: AuthorizedInstance };

const columns = [
  'id',
  'uid',
  'name',
  'redirect_uris',
  'scopes',
  'confidential',
  'trusted',
  'dynamic',
  'user_id',
  'namespace_id',
  'created_by_id',
  'created_at',
  'updated_at',
] as const;

function ownedBy(db: Db, owner: Owner) {
  const all = db.selectFrom('oauth_applications').select(columns);
  if (owner.of === 'user') return all.where('user_id', '=', owner.user.id);
  if (owner.of === 'group') return all.where('namespace_id', '=', owner.group.id);
  return all.where('user_id', 'is', null).where('namespace_id', 'is', null);
}

/** One page of the owner's applications, oldest first. */
export const listApplications = (db: Db, owner: Owner, page: PageRequest): Promise<Page<ApplicationRow>> =>
  selectPage(db, ownedBy(db, owner), page, { by: 'id', sort: 'asc' }, { id: 'id' });

/** The owner's application with this id; 404 for another owner's. */
export async function findApplication(db: Db, owner: Owner, id: number): Promise<ApplicationRow> {
  return found(await ownedBy(db, owner).where('id', '=', id).executeTakeFirst(), 'Application');
}

/** The same, locked against grants that are being made of it, so that none of them is overlooked. */
async function lockApplication(tx: Db, owner: Owner, id: number): Promise<ApplicationRow> {
  return found(await ownedBy(tx, owner).where('id', '=', id).forUpdate().executeTakeFirst(), 'Application');
}

const entityOf = (owner: Owner): AuditedEntity => {
  if (owner.of === 'user') return { type: 'User', id: owner.user.id, path: owner.user.username };
  if (owner.of === 'group') return { type: 'Group', id: owner.group.id, path: owner.group.row.full_path };
  return { type: 'InstanceScope', id: 1, path: 'instance' };
};

const record = (
  tx: Db,
  author: Actor | undefined,
  entity: AuditedEntity,
  event: string,
  application: Pick<ApplicationRow, 'id' | 'name'>,
): Promise<void> =>
  announce(tx, {
    author,
    audit: {
      entity,
      event,
      details: {
        target_id: application.id,
        target_type: 'OauthApplication',
        target_details: application.name,
      },
    },
  });

const newUid = (): string => randomHex(32);
const newSecret = (): string => `gloas-${randomHex(32)}`;

/** The application and its secret, which is never shown again. */
export type Registered = { row: ApplicationRow; secret: string };

/** No owner needs more; only administrators make those of the instance. */
const MAX_APPLICATIONS = 1_000;

async function refuseTooMany(tx: Db, owner: Owner): Promise<void> {
  if (owner.of === 'instance') return;
  const { count } = await tx
    .selectFrom(ownedBy(tx, owner).limit(MAX_APPLICATIONS).as('own'))
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) >= MAX_APPLICATIONS)
    throw badRequest(`nobody has more than ${MAX_APPLICATIONS} applications`);
}

/** Registers an application; only those of the instance can be trusted, and 400 beyond a thousand of one owner. */
export function createApplication(
  db: Db,
  author: Actor,
  owner: Owner,
  draft: ApplicationDraft,
  trusted = false,
): Promise<Registered> {
  const secret = newSecret();
  return inTransaction(db, async (tx) => {
    await refuseTooMany(tx, owner);
    const row = await insertApplication(tx, {
      ...draft,
      secret_digest: digest(secret),
      trusted: trusted && owner.of === 'instance',
      user_id: owner.of === 'user' ? owner.user.id : null,
      namespace_id: owner.of === 'group' ? owner.group.id : null,
      created_by_id: author.id,
    });
    await record(tx, author, entityOf(owner), 'oauth_application_created', row);
    return { row, secret };
  });
}

/** Registers a client by dynamic registration: public, of the instance, and known by a mark (facts §8). */
export const createDynamicApplication = (db: Db, draft: ApplicationDraft): Promise<ApplicationRow> =>
  inTransaction(db, async (tx) => {
    const row = await insertApplication(tx, { ...draft, dynamic: true });
    const entity = { type: 'InstanceScope', id: 1, path: 'instance' } as const;
    await record(tx, undefined, entity, 'oauth_application_created', row);
    return row;
  });

function insertApplication(
  tx: Db,
  values: ApplicationDraft &
    Partial<
      Pick<
        Selectable<OauthApplicationsTable>,
        'secret_digest' | 'trusted' | 'dynamic' | 'user_id' | 'namespace_id' | 'created_by_id'
      >
    >,
): Promise<ApplicationRow> {
  const time = now();
  return tx
    .insertInto('oauth_applications')
    .values({ ...values, uid: newUid(), created_at: time, updated_at: time })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** A dynamic client cannot be changed into something else: its users approved the registered one. */
function refuseDynamic(row: ApplicationRow): void {
  if (row.dynamic) throw badRequest('an application that registered itself can only be deleted');
}

/** Changes an application, and ends at once the grants that it would not be given now. */
export const updateApplication = (
  db: Db,
  author: Actor,
  owner: Owner,
  id: number,
  draft: ApplicationDraft,
  trusted = false,
): Promise<ApplicationRow> =>
  inTransaction(db, async (tx) => {
    const before = await lockApplication(tx, owner, id);
    refuseDynamic(before);
    const row = await tx
      .updateTable('oauth_applications')
      .set({ ...draft, trusted: trusted && owner.of === 'instance', updated_at: now() })
      .where('id', '=', id)
      .returning(columns)
      .executeTakeFirstOrThrow();
    await endGrants(tx, id, endsOf(before, draft));
    await record(tx, author, entityOf(owner), 'oauth_application_updated', row);
    return row;
  });

async function endGrants(tx: Db, id: number, { all, beyond }: Ends): Promise<void> {
  const time = now();
  const scopes = sql<string[]>`${beyond.scopes}::text[]`;
  const uris = sql<string[]>`${beyond.redirect_uris}::text[]`;
  await sql`
    update oauth_grants set revoked_at = ${time}
    where application_id = ${id} and revoked_at is null
      and (${all} or not scopes <@ ${scopes}
        or (code_digest is not null and code_used_at is null and redirect_uri <> all(${uris})))`.execute(
    ahead(tx),
  );
  // A statement of its own: it sees the tokens of a refresh that the first had to wait for.
  await sql`
    update access_tokens set revoked_at = ${time}, updated_at = ${time}
    where grant_id in (select id from oauth_grants where application_id = ${id} and revoked_at is not null)
      and revoked_at is null`.execute(ahead(tx));
  await sql`delete from oauth_devices where application_id = ${id} and (${all} or not scopes <@ ${scopes})`.execute(
    ahead(tx),
  );
}

/** Gives an application another secret: the old one stops working, grants go on. */
export const renewSecret = (db: Db, author: Actor, owner: Owner, id: number): Promise<Registered> =>
  inTransaction(db, async (tx) => {
    refuseDynamic(await lockApplication(tx, owner, id));
    const secret = newSecret();
    const row = await tx
      .updateTable('oauth_applications')
      .set({ secret_digest: digest(secret), updated_at: now() })
      .where('id', '=', id)
      .returning(columns)
      .executeTakeFirstOrThrow();
    await record(tx, author, entityOf(owner), 'oauth_application_secret_renewed', row);
    return { row, secret };
  });

/** Deletes an application, and with it every grant and token that was given for it. */
export const deleteApplication = (db: Db, author: Actor, owner: Owner, id: number): Promise<void> =>
  inTransaction(db, async (tx) => {
    const row = await lockApplication(tx, owner, id);
    await ahead(tx).deleteFrom('oauth_applications').where('id', '=', id).execute();
    await record(tx, author, entityOf(owner), 'oauth_application_deleted', row);
  });

/** A user's authorization: one entry an application; without one, that of the password grant without a client. */
export type Authorization = {
  application_id: number | null;
  name: string | null;
  dynamic: boolean | null;
  scopes: string[];
  since: Date;
};

const MAX_AUTHORIZATIONS = 500;

/** The user's authorizations that are not revoked, newest first. */
export const listAuthorizations = (pool: Sql, userId: number): Promise<Authorization[]> =>
  pool<Authorization[]>`
    select g.application_id, a.name, a.dynamic, array_agg(distinct s.scope) as scopes, min(g.created_at) as since
    from oauth_grants g left join oauth_applications a on a.id = g.application_id
    cross join lateral unnest(g.scopes) as s(scope)
    where g.user_id = ${userId} and g.revoked_at is null and (g.code_digest is null or g.code_used_at is not null)
    group by g.application_id, a.name, a.dynamic
    order by max(g.created_at) desc limit ${MAX_AUTHORIZATIONS}`;

/** Revokes what the user gave to the application, or with null to no client; returns whether there was anything. */
export const revokeAuthorization = (db: Db, user: Actor, applicationId: number | null): Promise<boolean> =>
  inTransaction(db, async (tx) => {
    const ended = await countRevokedGrants(tx, { userId: user.id, applicationId });
    if (ended === 0) return false;
    await announce(tx, {
      author: user,
      audit: {
        entity: { type: 'User', id: user.id, path: user.username },
        event: 'oauth_authorization_revoked',
        details: applicationId === null ? {} : { target_id: applicationId, target_type: 'OauthApplication' },
      },
    });
    return true;
  });
