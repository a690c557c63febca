/** Visibility of events in a visible project (facts: Activity events), as SQL. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { seesAll } from '../../kernel/access/group-list-queries.ts';
import { mayInProjects } from '../../kernel/access/policy-sql.ts';
import { activityTargets } from '../../kernel/activity/targets.ts';
import type { Caller } from '../../kernel/actor.ts';
import type { ProjectAbility } from '../../kernel/policy/policy.ts';
import { GUEST } from '../../kernel/policy/roles.ts';
import type { Needs } from '../../kernel/services.ts';
import { noteTypes } from './event-rows.ts';

type Registrations = Needs<'registered'>;

const columns = (
  services: Registrations,
  value: (ability: ProjectAbility) => RawBuilder<unknown>,
  member: RawBuilder<unknown>,
) => {
  const ofTargets = activityTargets.all(services).flatMap(({ abilities }) => abilities);
  const deciding = new Set<ProjectAbility>(['read_code', 'read_internal_notes', ...ofTargets]);
  return sql.join([
    ...[...deciding].map((ability) => sql`${value(ability)} as ${sql.ref(ability)}`),
    sql`${member} as member`,
  ]);
};

/** Columns of the caller's visibility in one project, by its receipt. */
export const seenOf = (
  services: Registrations,
  project: Pick<AuthorizedProject, 'may' | 'role'>,
  caller: Caller,
): RawBuilder<unknown> =>
  columns(
    services,
    (ability) => sql.lit(project.may(ability)),
    sql.lit(project.role >= GUEST || (caller?.auditor ?? false)),
  );

/** The same for each project `p` that the caller sees, with the caller's role `level` on it. */
export const seenIn = (
  services: Registrations,
  caller: Caller,
  level: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  columns(
    services,
    (ability) => mayInProjects(ability, caller, level),
    seesAll(caller) ? sql`true` : sql`${level} >= ${sql.lit(GUEST)}`,
  );

/**
 * The condition that the caller sees an event, over `activity_events e join places v`, where `places` has the columns of
 * one of the above, below callerCte(). Events of unknown types are hidden.
 */
export function visibleEvents(services: Registrations, caller: Caller): RawBuilder<SqlBool> {
  const targets = activityTargets.all(services);
  const byType = targets
    .filter(({ type }) => type !== undefined)
    .map(({ type, isVisible }) => sql`when ${sql.lit(type)} then ${isVisible(sql`e.target_id`, caller)}`);
  const byNoteable = targets
    .flatMap(({ noteColumn, isVisible }) =>
      noteColumn === undefined ? [] : { id: sql.ref(`n.${noteColumn}`), isVisible },
    )
    .map(({ id, isVisible }) => sql`when ${id} is not null then ${isVisible(id, caller)}`);
  return sql`(case
    when e.target_type is null then
      case when e.action = 'pushed' then v.read_code else e.action in ('created', 'joined', 'left', 'expired') end
    when e.target_type in (${sql.join(noteTypes.map(sql.lit))}) then exists (
      select from notes n where n.id = e.target_id and n.project_id = e.project_id
        and (not n.internal or v.read_internal_notes) and case ${sql.join(byNoteable, sql` `)} else false end)
    else case e.target_type ${sql.join(byType, sql` `)} else false end end
    and exists (select from users u where u.id = e.author_id))`;
}
