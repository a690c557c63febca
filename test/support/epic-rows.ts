/** Epics of the world's group, all below the first. */
import type { SampleIds } from './inventory.ts';

const stamps = 'now(), now()';

/**
 * Epic 1 of the group by root, and one below it by each person, that the first is linked to. In the first are
 * the issues of the project's first milestone, and every user changed its state and labels.
 */
export const epics = ({ user, group, project }: SampleIds): string => `
  insert into epics (iid, namespace_id, author_id, title, relative_position, created_at, updated_at)
    values (1, ${group}, ${user}, 'world', 0, ${stamps});
  insert into epics (iid, namespace_id, author_id, parent_id, title, relative_position, created_at, updated_at)
    select 1 + row_number() over (order by u.id), ${group}, u.id, e.id, u.username, u.id, ${stamps}
    from users u, epics e where u.username like 'person-%' order by 1;
  insert into group_counters (namespace_id, epics)
    select ${group}, max(iid) from epics
    on conflict (namespace_id) do update set epics = excluded.epics;
  insert into related_epic_links (source_id, target_id, link_type, created_at, updated_at)
    select parent_id, id, 'relates_to', ${stamps} from epics where parent_id is not null order by id;
  insert into epic_issues (epic_id, issue_id, relative_position)
    select e.id, i.id, i.id from epics e, issues i join milestones m on m.id = i.milestone_id
    where e.parent_id is null and m.project_id = ${project} order by i.id;
  insert into label_links (label_id, epic_id)
    select l.id, e.id from epics e join labels l on l.namespace_id = ${group} and l.name = 'of-' || e.title;
  insert into resource_events (kind, epic_id, user_id, action, label_id, created_at)
    select kind, e.id, l.author, case kind when 'label' then 'add' else 'closed' end, case kind when 'label' then l.id end, now()
    from epics e, (values ('label'), ('state')) x(kind),
      (select k.id, u.id as author from labels k join users u on k.name = 'of-' || u.username where k.namespace_id = ${group}) l
    where e.parent_id is null order by l.id;`;
