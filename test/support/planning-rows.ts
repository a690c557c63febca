/** Labels and milestones of the world's project and group, and the project's issues. */
import type { SampleIds } from './inventory.ts';

const stamps = 'now(), now()';

/**
 * Labels `person-1` and so on of the project and `of-person-1` of the group, and milestones of both by turns: the first is
 * the project's, the second the group's.
 */
export const planning = ({ group, project }: SampleIds): string => `
  insert into labels (project_id, namespace_id, name, color, created_at, updated_at)
    select case x when 1 then ${project} end, case x when 2 then ${group} end,
      case x when 2 then 'of-' else '' end || username, '#ff0000', ${stamps}
    from users, generate_series(1, 2) x where username like 'person-%';
  insert into milestones (project_id, namespace_id, iid, title, created_at, updated_at)
    select case x when 1 then ${project} end, case x when 2 then ${group} end, row_number() over (partition by x order by id),
      case x when 2 then 'of-' else '' end || username, ${stamps}
    from users, generate_series(1, 2) x where username like 'person-%' order by id, x;
  insert into group_counters (namespace_id, milestones)
    select ${group}, count(*) from milestones where namespace_id = ${group};`;

/** Two issues by each user, with the user's label and the user as assignee: in the project's first milestone, and in the group's. */
export const issues = ({ group, project }: SampleIds): string => `
  insert into issues (iid, project_id, author_id, title, milestone_id, relative_position, created_at, updated_at)
    select row_number() over (order by x, u.id), ${project}, u.id, u.username, m.id, u.id, ${stamps}
    from users u, generate_series(1, 2) x
    join milestones m on m.iid = 1 and case x when 1 then m.project_id = ${project} else m.namespace_id = ${group} end
    where u.username like 'person-%' order by 1;
  insert into project_counters (project_id, issues, milestones)
    select ${project}, max(i.iid), max(i.iid) / 2 from issues i where project_id = ${project};
  insert into group_counters (namespace_id, milestones)
    select ${group}, max(iid) from milestones where namespace_id = ${group}
    on conflict (namespace_id) do update set milestones = excluded.milestones;
  insert into issue_assignees (issue_id, user_id) select id, author_id from issues;
  insert into label_links (label_id, issue_id)
    select l.id, i.id from issues i join labels l on l.project_id = i.project_id and l.name = i.title;`;

/** The first record of the path's project or group, of a kind that both have by turns. */
export const firstAt = (path: string): number => (path.startsWith('/groups/') ? 2 : 1);
