/**
 * Statements over access requests and invitations, the two ways of becoming a member that wait for a
 * decision.
 */
import { sql } from 'kysely';
import { userBasicColumns } from '../../../kernel/users/records.ts';
import type { Db } from '../../../platform/db/database.ts';
import { containing } from '../../../platform/db/search.ts';
import { type PageRequest, selectPage } from '../../../platform/pagination/page.ts';
import type { Source } from './source.ts';

/** One page of the users who requested access, oldest request first. */
export const listAccessRequesters = (db: Db, source: Source, page: PageRequest) =>
  selectPage(
    db,
    db
      .selectFrom('access_requests')
      .innerJoin('users', 'users.id', 'access_requests.user_id')
      .select(userBasicColumns)
      .select('access_requests.requested_at')
      .where(source.column, '=', source.id)
      .where('users.deletion', 'is', null),
    page,
    { by: 'id', sort: 'asc' },
    { id: 'access_requests.id' },
  );

/** One user's request with the user, locked for the decision. */
export const accessRequest = (tx: Db, source: Source, userId: number) =>
  tx
    .selectFrom('access_requests')
    .innerJoin('users', 'users.id', 'access_requests.user_id')
    .select(['users.id', 'users.username', 'users.name', 'users.kind'])
    .select(['access_requests.id as request_id', 'access_requests.requested_at'])
    .where(source.column, '=', source.id)
    .where('access_requests.user_id', '=', userId)
    .where('users.deletion', 'is', null)
    .forUpdate('access_requests');

const invitations = (db: Db, source: Source) =>
  db
    .selectFrom('invitations')
    .leftJoin('users', 'users.id', 'invitations.created_by_id')
    .select([
      'invitations.id',
      'invitations.email',
      'invitations.access_level',
      'invitations.expires_at',
      'invitations.member_role_id',
      'invitations.token_sealed',
      'invitations.created_at',
      'invitations.updated_at',
      'users.name as created_by_name',
    ])
    .where(source.column, '=', source.id);

export type InvitationRow = NonNullable<Awaited<ReturnType<typeof selectInvitation>>>;

/** One page of invitations, oldest first, those whose address contains the text. */
export function listInvitations(db: Db, source: Source, text: string | undefined, page: PageRequest) {
  const all = invitations(db, source);
  const query = text ? all.where('invitations.email', 'ilike', containing(text)) : all;
  return selectPage(db, query, page, { by: 'id', sort: 'asc' }, { id: 'invitations.id' });
}

const addressed = (db: Db, source: Source, email: string) =>
  invitations(db, source).where(sql<boolean>`lower(invitations.email) collate "C" = ${email.toLowerCase()}`);

/** The invitation of one address, compared without regard to case, or undefined. */
export const selectInvitation = (db: Db, source: Source, email: string) =>
  addressed(db, source, email).executeTakeFirst();

/** The same, locked for a change. */
export const lockInvitation = (tx: Db, source: Source, email: string) =>
  addressed(tx, source, email).forUpdate('invitations').executeTakeFirst();
