/** Administrators' rights where no request is: in jobs, and of people whom somebody else's request names. */
import { type RawBuilder, sql } from 'kysely';
import { actorColumns } from '../actor.ts';

/**
 * Whether the user of the alias has them: not where the instance demands admin mode, unless the work follows what was done in it,
 * as its fact says.
 */
export const adminBehindRequests = (alias = 'users', adminMode = false): RawBuilder<boolean> =>
  adminMode
    ? sql`${sql.ref(`${alias}.admin`)}`
    : sql`(${sql.ref(`${alias}.admin`)} and not coalesce(
        (select (values ->> 'admin_mode')::boolean from application_settings where id = 1), false))`;

/** Of a statement on `users`: what an actor is made of who acts behind the requests. */
export const actorColumnsBehindRequests = (adminMode = false) => [
  ...actorColumns.filter((column) => column !== 'admin'),
  adminBehindRequests('users', adminMode).as('admin'),
];

/** Whether what the fact tells of was done in admin mode. */
export const isOfAdminMode = (fact: { admin_mode?: unknown } | undefined): boolean =>
  fact?.admin_mode === true;
