/** Records of the first issue of the world's project, an incident: links to others, and events by every user. */
import type { SampleIds } from './inventory.ts';

export const aroundIssues = ({ project }: SampleIds): string => `
  insert into issue_links (source_id, target_id, link_type, created_at, updated_at)
    select i.id, o.id, 'relates_to', now(), now() from issues i, issues o
    where i.project_id = ${project} and i.iid = 1 and o.project_id = ${project}
      and o.iid > (select count(*) from users where username like 'person-%') order by o.id;
  insert into timelogs (issue_id, user_id, seconds, spent_at, created_at)
    select i.id, i.author_id, 60, now(), now() from issues i where i.project_id = ${project};
  insert into resource_events (kind, issue_id, user_id, action, label_id, milestone_id, weight, created_at)
    select k.kind, i.id, u.id, case k.kind when 'state' then 'closed' when 'weight' then null else 'add' end,
      case k.kind when 'label' then l.id end, case k.kind when 'milestone' then i.milestone_id end,
      case k.kind when 'weight' then 1 end, now()
    from issues i, users u join labels l on l.name = u.username, unnest(array['state', 'label', 'milestone', 'weight']) as k(kind)
    where i.project_id = ${project} and i.iid = 1 and u.username like 'person-%' order by u.id;
  update issues set issue_type = 'incident' where project_id = ${project} and iid = 1;
  insert into incident_timeline_events (project_id, issue_id, author_id, note, occurred_at, created_at, updated_at)
    select i.project_id, i.id, u.id, 'See #' || i.iid || ' and @' || u.username, now(), now(), now()
    from issues i, users u where i.project_id = ${project} and i.iid = 1 and u.username like 'person-%' order by u.id;`;
