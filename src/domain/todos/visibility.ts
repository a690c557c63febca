/**
 * The to-do items that their owner still sees. An item stays when its owner loses access to the target, and
 * must then be neither shown nor counted: its title and note are not the owner's any more.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { CALLER, callerCte, reachedCtes, TODAY } from '../../core/access/memberships.ts';
import { DEVELOPER, INTERNAL, PLANNER, PUBLIC, REPORTER } from '../../core/access/roles.ts';
import type { Actor } from '../../core/identity/actor.ts';
import { seesAll } from '../../core/namespaces/group-list.ts';
import { visibleEpics } from '../../core/work/epic-visibility.ts';
import { visibleIssues } from '../../core/work/issue-visibility.ts';

const FEATURE = `coalesce(p.settings ->> 'repository_access_level', 'enabled')`;

/** The same as the ability read_code; below the CTEs of visibleIssues(). */
function codeProjects(actor: Actor): string {
  if (seesAll(actor)) return `select p.id from projects p where not p.deleting and ${FEATURE} <> 'disabled'`;
  const open = actor.external ? PUBLIC : INTERNAL;
  return `
    select p.id from projects p
      left join reached_groups g on g.id = p.namespace_id left join reached_projects r on r.id = p.id
    where not p.deleting and ((p.visibility >= ${open} and ${FEATURE} = 'enabled')
      or (coalesce(greatest(g.level, r.level), 0) >= ${REPORTER} and ${FEATURE} <> 'disabled'))`;
}

/** The same as the ability read_alerts; below the same CTEs. */
const alertProjects = (actor: Actor): string =>
  seesAll(actor)
    ? 'select p.id from projects p where not p.deleting'
    : `select p.id from projects p
        left join reached_groups g on g.id = p.namespace_id left join reached_projects r on r.id = p.id
      where not p.deleting and coalesce(greatest(g.level, r.level), 0) >= ${DEVELOPER}`;

/** The same as the ability read_internal_epic_notes. */
const readsInternalEpicNotes = (actor: Actor): RawBuilder<SqlBool> =>
  seesAll(actor)
    ? sql`true`
    : sql`epics.namespace_id in (with ${callerCte(actor)}, ${sql.raw(reachedCtes(CALLER, TODAY))}
        select id from reached_groups where level >= ${sql.lit(PLANNER)})`;

/** CTEs, and the from and where clauses that select, as `t`, the actor's own items that they see. */
export function visibleTodos(actor: Actor): { ctes: RawBuilder<unknown>; from: RawBuilder<unknown> } {
  const mine = sql`(select project_id from todos where user_id = ${actor.id})`;
  const issues = visibleIssues(actor, sql`p.id in ${mine}`);
  return {
    ctes: sql`${issues.ctes}, code_projects as (${sql.raw(codeProjects(actor))} and p.id in ${mine}),
      alert_projects as (${sql.raw(alertProjects(actor))} and p.id in ${mine})`,
    from: sql`
      from todos t left join issues i on i.id = t.issue_id left join issue_projects v on v.id = i.project_id
        left join notes note on note.id = t.note_id
      where t.user_id = ${actor.id} and (case
        when t.issue_id is not null then v.id is not null and ${issues.condition}
          and (v.confidential or note.internal is not true)
        when t.epic_id is not null then exists (select from epics where epics.id = t.epic_id
          and ${visibleEpics(actor)} and (note.internal is not true or ${readsInternalEpicNotes(actor)}))
        when t.alert_id is not null then t.project_id in (select id from alert_projects)
        else t.project_id in (select id from code_projects) end)`,
  };
}
