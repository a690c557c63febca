/**
 * Two issues by each user, with the user's label and the user as assignee: in the project's first milestone, and in the
 * group's. The first is an incident, and linked to others.
 */
import type { SampleIds } from '../../../../test/support/inventory.ts';
import type { Samples } from '../../../../test/support/samples.ts';

const first = ({ project }: SampleIds): string => `project_id = ${project} and iid = 1`;

export const samples: Samples = {
  after: ['planning/labels', 'planning/milestones'],
  rows: ({ project, group }) => `
    insert into issues (iid, project_id, author_id, title, milestone_id, relative_position, created_at, updated_at)
      select row_number() over (order by x, p.id), ${project}, p.id, p.username, m.id, p.id, now(), now()
      from person p, generate_series(1, 2) x
      join milestones m on m.iid = 1 and case x when 1 then m.project_id = ${project} else m.namespace_id = ${group} end
      order by 1;
    update issues set issue_type = 'incident' where project_id = ${project} and iid = 1;
    update project_counters set issues = (select max(iid) from issues where project_id = ${project}) where project_id = ${project};
    insert into issue_assignees (issue_id, user_id) select id, author_id from issues;
    insert into label_links (label_id, issue_id)
      select l.id, i.id from issues i join labels l on l.project_id = i.project_id and l.name = i.title;
    insert into issue_links (source_id, target_id, link_type, created_at, updated_at)
      select i.id, o.id, 'relates_to', now(), now() from issues i, issues o
      where i.project_id = ${project} and i.iid = 1 and o.project_id = ${project}
        and o.iid > (select count(*) from person) order by o.id;
    insert into timelogs (issue_id, user_id, seconds, spent_at, created_at)
      select i.id, i.author_id, 60, now(), now() from issues i where i.project_id = ${project}`,
  guardedRows: ({ project }) => `
    insert into issues (iid, project_id, author_id, title, confidential, discussion_locked, relative_position, created_at, updated_at)
      select 5, ${project}, id, 'free', false, null::boolean, 9, now(), now() from person where username = 'person-1'
      union all
      select 6, ${project}, id, 'confidential', true, null, 10, now(), now() from person where username = 'person-2'
      union all
      select 7, ${project}, id, 'locked', false, true, 11, now(), now() from person where username = 'person-2'
      union all
      select 1, p.id, o.id, p.path, false, null, 12, now(), now() from person o, projects p
        where o.username = 'person-2' and p.path in ('elsewhere', 'in-reach');
    update project_counters set issues = 7 where project_id = ${project};
    insert into project_counters (project_id, issues)
      select id, 1 from projects where path in ('elsewhere', 'in-reach');
    update issues set user_agent = 'one', ip_address = '127.0.0.1'`,
  ownRows: ({ user, project }) => `
    insert into issues (iid, project_id, author_id, title, issue_type, relative_position, created_at, updated_at)
      values (1, ${project}, ${user}, 'own', 'incident', 0, now(), now())`,
  objects: {
    'issues/:id': 'issues',
    'issues/:issue_iid': { table: 'issues', column: 'iid' },
    'issues/:noteable_id': { table: 'issues', column: 'iid', where: first },
    'issues/:eventable_id': { table: 'issues', column: 'iid', where: first },
    'issues/:subscribable_id': { table: 'issues', column: 'iid', where: first },
    'links/:issue_link_id': {
      table: 'issue_links',
      where: ({ project }) => `source_id in (select id from issues where project_id = ${project})`,
    },
  },
  fields: {
    issue_id: 'issues',
    assignee_id: null,
    assignee_ids: null,
    closed_by_id: null,
    target_project_id: 'projects',
    to_project_id: 'projects',
    move_after_id: 'issues',
    move_before_id: 'issues',
  },
  requests: async ({ project, projectId, id }) => {
    const empty = { to_project_id: projectId('world/empty') };
    const inReach = projectId('elsewhere/in-reach');
    const confidential = { issue_iid: 6 };
    const ofAnother = { issue_iid: 7 };
    const target = (projectId: number, iid: number) => ({
      with: { target_project_id: String(projectId), target_issue_iid: iid },
    });
    return {
      'GET /projects/:id/issues/:issue_iid, confidential': { at: confidential },
      'POST /projects/:id/issues, confidential': { with: { confidential: true } },
      'POST /projects/:id/issues, with a label': { with: { labels: 'person-1' } },
      'POST /projects/:id/issues, at another time': {
        with: { created_at: '2020-01-01T00:00:00Z', iid: 99 },
      },
      'PUT /projects/:id/issues/:issue_iid': { with: { title: 'New' } },
      'PUT /projects/:id/issues/:issue_iid, confidential': { at: confidential, with: { title: 'New' } },
      'PUT /projects/:id/issues/:issue_iid, of somebody else': { at: ofAnother, with: { title: 'New' } },
      'PUT /projects/:id/issues/:issue_iid, its labels': { with: { labels: 'person-1' } },
      'PUT /projects/:id/issues/:issue_iid, its confidentiality': { with: { confidential: true } },
      'PUT /projects/:id/issues/:issue_iid, its lock': { with: { discussion_locked: true } },
      'PUT /projects/:id/issues/:issue_iid, its weight': { with: { weight: 1 } },
      'PUT /projects/:id/issues/:issue_iid, its epic': {
        with: { epic_id: await id(`select id from epics where title = 'free'`) },
      },
      'PUT /projects/:id/issues/:issue_iid, its time': { with: { updated_at: '2020-01-01T00:00:00Z' } },
      'DELETE /projects/:id/issues/:issue_iid, of somebody else': { at: ofAnother },
      'DELETE /projects/:id/issues/:issue_iid, confidential': { at: confidential },
      'POST /projects/:id/issues/:issue_iid/links': target(project, 2),
      'POST /projects/:id/issues/:issue_iid/links, with one elsewhere': target(inReach, 1),
      'POST /projects/:id/issues/:issue_iid/links, with one out of sight': target(
        projectId('elsewhere/elsewhere'),
        1,
      ),
      'POST /projects/:id/issues/:issue_iid/move': { with: empty },
      'POST /projects/:id/issues/:issue_iid/move, elsewhere': { with: { to_project_id: inReach } },
      'POST /projects/:id/issues/:issue_iid/move, of somebody else': { at: ofAnother, with: empty },
      'POST /projects/:id/issues/:issue_iid/clone': { with: empty },
      'POST /projects/:id/issues/:issue_iid/clone, elsewhere': { with: { to_project_id: inReach } },
      'POST /projects/:id/issues/:issue_iid/clone, confidential': { at: confidential, with: empty },
      'PUT /projects/:id/issues/:issue_iid/reorder': {
        with: { move_after_id: await id(`select id from issues where project_id = ${project} and iid = 2`) },
      },
      'POST /projects/:id/issues/:issue_iid/todo, confidential': { at: confidential },
      'POST /projects/:id/issues/:issue_iid/time_estimate, of somebody else': { at: ofAnother },
      'POST /projects/:id/issues/:subscribable_id/subscribe, confidential': { at: { subscribable_id: 6 } },
    };
  },
  lists: { 'GET /issues': { query: 'scope=all' } },
};
