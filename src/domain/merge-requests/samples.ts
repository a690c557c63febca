/**
 * Two merge requests by each user, from branches `topic-1` and so on into main, with the user's label and the user as
 * assignee: in the project's first milestone, and in the group's. Everybody reviews the first, which has a commit of each
 * user, and beside it one of each on main; it closes an issue of each. Each of the first half closes the first issue. In the
 * second each user suggests a change.
 */
import { importStream } from '../../../test/support/repositories.ts';
import type { Samples } from '../../../test/support/samples.ts';
import { git, gitText } from '../../platform/git/program/program.ts';
import { readRef } from '../../platform/git/refs.ts';
import { projectRepository } from '../repositories/index.ts';

/** The first commit of main, and so a context commit of the first merge request. */
const PERSON_1 = 'c931d70e7b06791e99e7d08119df3f581fb5affb';

const first = { table: 'merge_requests', column: 'iid' };

/** The columns of one from its own branch, but for the relations. */
const columns = `iid, project_id, source_project_id, source_branch, target_branch, author_id, title, draft, merge_status,
  prepared_at, created_at, updated_at`;
const valuesOf = (iid: string | number, project: number, author: string | number, title: string): string =>
  `${iid}, ${project}, ${project}, 'topic-' || ${iid}, 'main', ${author}, ${title}, false, 'can_be_merged', now(), now(), now()`;

export const samples: Samples = {
  after: ['planning/labels', 'planning/milestones', 'work-items/issues', 'repositories', 'ci'],
  rows: ({ project, group }) => `
    insert into merge_requests (${columns}, milestone_id)
      select ${valuesOf('nth', project, 'id', 'username')}, milestone from (
        select row_number() over (order by x, p.id) as nth, p.id, p.username, m.id as milestone
        from person p, generate_series(1, 2) x
        join milestones m on m.iid = 1 and case x when 1 then m.project_id = ${project} else m.namespace_id = ${group} end
      ) made order by nth;
    update project_counters c set merge_requests = n, open_merge_requests = n
      from (select count(*)::integer as n from merge_requests where project_id = ${project}) made where c.project_id = ${project};
    insert into merge_request_assignees (merge_request_id, user_id) select id, author_id from merge_requests;
    insert into merge_request_reviewers (merge_request_id, user_id, created_at)
      select m.id, p.id, now() from merge_requests m, person p where m.iid = 1;
    insert into label_links (label_id, merge_request_id)
      select l.id, m.id from merge_requests m join labels l on l.project_id = m.project_id and l.name = m.title;
    insert into merge_request_closing_issues (merge_request_id, issue_id)
      select m.id, i.id from merge_requests m join issues i on i.project_id = m.project_id and least(i.iid, m.iid) = 1
      where greatest(i.iid, m.iid) <= (select count(*) from person);
    insert into approval_rules (merge_request_id, name, rule_type, approvals_required, created_at, updated_at)
      select m.id, p.username, 'regular', 0, now(), now() from merge_requests m, person p where m.iid = 1;
    insert into draft_notes (merge_request_id, author_id, note, created_at, updated_at)
      select m.id, p.id, 'Draft', now(), now() from merge_requests m, person p where m.iid = 1;
    update pipelines set merge_request_id = (select id from merge_requests where project_id = ${project} and iid = 1)
      where project_id = ${project} and source <> 'parent_pipeline';
    insert into timelogs (merge_request_id, user_id, seconds, spent_at, created_at)
      select id, author_id, 60, now(), now() from merge_requests`,
  /** The branches of all that are there, and their versions. Each brings the last commit of main, for who asks by commit. */
  async fill(app, count, { project }) {
    const { database, repositories } = app.app.services;
    const made = await database.sql<{ id: number; iid: number; branch: string }[]>`
      select id, iid, source_branch as branch from merge_requests where project_id = ${project} order by id`;
    const commits = made.flatMap(({ iid, branch }) =>
      importStream(
        Array.from({ length: iid === 1 ? count : 1 }, (_, nth) => ({ [`${branch}/${nth}`]: 'Hello' })),
        branch,
        { from: 'refs/heads/main' },
      ),
    );
    const written = await repositories.write(projectRepository(project), 'main', async (opened) => {
      const { folder } = opened;
      await git(['fast-import', '--quiet'], { folder, input: commits.join('') });
      const names = ['main', ...made.map(({ branch }) => branch)];
      const idsOf = async (range: string) =>
        (await gitText(['rev-list', range], { folder })).trim().split('\n');
      return {
        heads: await Promise.all(names.map((name) => readRef(opened, `refs/heads/${name}`))),
        ofFirst: await idsOf('main..topic-1'),
        before: await idsOf('main~1'),
      };
    });
    const [main, ...sources] = written.heads;
    const { ofFirst } = written;
    await database.sql`
      update merge_requests m set head_sha = x.head, judged_source_sha = x.head, judged_target_sha = ${main ?? ''},
        commits_count = case iid when 1 then ${ofFirst.length + 1} else 2 end
      from unnest(${made.map(({ id }) => id)}::bigint[], ${sources.map((head) => head ?? '')}::text[]) x(id, head)
      where m.id = x.id`;
    await database.sql`
      insert into merge_request_versions (merge_request_id, base_sha, start_sha, head_sha, files, overflows, created_at)
      select id, ${main ?? ''}, ${main ?? ''}, head_sha, 1, false, now()
      from merge_requests, generate_series(1, ${count}) where project_id = ${project} and head_sha is not null`;
    await database.sql`
      insert into merge_request_commits (merge_request_id, place, sha)
      select id, place, sha from merge_requests, lateral (
        select nth - 1, sha from unnest(${ofFirst}::text[]) with ordinality own(sha, nth) where iid = 1
        union all select 0, head_sha where iid > 1
        union all select commits_count - 1, ${main ?? ''}) commit(place, sha)
      where project_id = ${project} and head_sha is not null`;
    await database.sql`
      insert into merge_request_context_commits (merge_request_id, sha, committed_at)
      select id, sha, now() from merge_requests, unnest(${written.before}::text[]) context(sha)
      where project_id = ${project} and iid = 1`;
    await database.sql`
      insert into draft_notes (merge_request_id, author_id, note, created_at, updated_at)
      select id, 1, 'Draft', now(), now() from merge_requests, generate_series(1, ${count})
      where project_id = ${project} and iid = 1`;
    await database.sql`
      with placed as (
        insert into notes (project_id, merge_request_id, author_id, body, discussion_id, in_thread, position, created_at, updated_at)
          select m.project_id, m.id, u.id, 'suggestion', encode(sha256(('suggestion ' || u.id)::bytea), 'hex')::char(40), true,
            jsonb_build_object('position_type', 'text', 'base_sha', v.base_sha, 'start_sha', v.start_sha, 'head_sha', v.head_sha,
              'old_path', 'topic-2/0', 'new_path', 'topic-2/0', 'old_line', null, 'new_line', 1), now(), now()
          from merge_requests m join lateral (select * from merge_request_versions where merge_request_id = m.id limit 1) v on true
            join users u on u.username like 'person-%'
          where m.project_id = ${project} and m.iid = 2 order by u.id
          returning id)
      insert into suggestions (note_id, place, lines_above, lines_below, from_content, to_content)
        select id, 0, 0, 0, 'Hello', 'Goodbye' from placed order by id`;
  },
  guardedRows: ({ project }) => `
    insert into merge_requests (${columns}, discussion_locked)
      select ${valuesOf(5, project, 'id', `'locked'`)}, true from person where username = 'person-2';
    insert into merge_requests (${columns}, auto_merge, merge_user_id)
      select ${valuesOf(6, project, 'id', `'waiting'`)}, '{"auto": true}', id from person where username = 'person-2';
    update project_counters set merge_requests = 6, open_merge_requests = 6 where project_id = ${project};
    insert into merge_request_approvals (merge_request_id, user_id, created_at)
      select m.id, u.id, now() from merge_requests m, users u
      where m.project_id = ${project} and m.iid = 3 and (u.username = 'root' or u.username like 'the-%')`,
  ownRows: ({ user, project }) => `
    insert into merge_requests (${columns}) values (${valuesOf(1, project, user, `'own'`)});
    insert into approval_rules (merge_request_id, name, rule_type, approvals_required, created_at, updated_at)
      select id, 'own', 'regular', 0, now(), now() from merge_requests where project_id = ${project}`,
  objects: {
    'merge_requests/:merge_request_iid': first,
    'merge_requests/:noteable_id': first,
    'merge_requests/:eventable_id': first,
    'merge_requests/:subscribable_id': first,
    'suggestions/:id': 'suggestions',
    'merge_trains/:target_branch': { value: 'main' },
    'draft_notes/:draft_note_id': { table: 'draft_notes', where: () => 'author_id = 1' },
    'versions/:version_id': {
      table: 'merge_request_versions',
      where: ({ project }) =>
        `merge_request_id = (select id from merge_requests where project_id = ${project} and iid = 1)`,
    },
  },
  fields: {
    in_reply_to_discussion_id: null,
    commit_id: null,
    reviewer_id: null,
    reviewer_ids: null,
    approved_by_ids: null,
    approver_ids: null,
    merge_user_id: null,
    source_project_id: 'projects',
    approval_project_rule_id: { table: 'approval_rules', where: 'project_id is not null' },
  },
  requests: async ({ projectId, id }) => {
    const suggestion = await id('select min(id) id from suggestions');
    const path = '/projects/:id/merge_requests';
    const opened = { source_branch: 'topic-1', target_branch: 'person-1' };
    const ofAnother = { merge_request_iid: 5 };
    return {
      [`POST ${path}`]: { with: opened },
      [`POST ${path}, with a label`]: { with: { ...opened, labels: 'person-1' } },
      [`POST ${path}, elsewhere`]: {
        with: { ...opened, target_project_id: projectId('elsewhere/in-reach') },
      },
      [`PUT ${path}/:merge_request_iid`]: { with: { title: 'New' } },
      [`PUT ${path}/:merge_request_iid, of somebody else`]: { at: ofAnother, with: { title: 'New' } },
      [`PUT ${path}/:merge_request_iid, its labels`]: { with: { labels: 'person-1' } },
      [`PUT ${path}/:merge_request_iid, its lock`]: { with: { discussion_locked: true } },
      [`PUT ${path}/:merge_request_iid, closed`]: { with: { state_event: 'close' } },
      [`PUT ${path}/:merge_request_iid, its target`]: { with: { target_branch: 'person-1' } },
      'PUT /suggestions/batch_apply': { with: { ids: [suggestion] } },
      [`PUT ${path}/:merge_request_iid/draft_notes/:draft_note_id`]: { with: { note: 'New' } },
      [`POST ${path}/:merge_request_iid/cancel_merge_when_pipeline_succeeds`]: {
        at: { merge_request_iid: 6 },
      },
      [`POST ${path}/:merge_request_iid/context_commits`]: {
        at: { merge_request_iid: 2 },
        with: { commits: [PERSON_1] },
      },
      [`POST ${path}/:merge_request_iid/context_commits, of somebody else`]: {
        at: ofAnother,
        with: { commits: [PERSON_1] },
      },
      [`DELETE ${path}/:merge_request_iid/context_commits`]: { with: { commits: [PERSON_1] } },
      [`POST ${path}/:merge_request_iid/time_estimate, of somebody else`]: { at: ofAnother },
      [`POST ${path}/:merge_request_iid/approval_rules`]: { with: { name: 'new', approvals_required: 0 } },
      [`PUT ${path}/:merge_request_iid/approval_rules/:approval_rule_id`]: {
        with: { approvals_required: 0 },
      },
      [`POST ${path}/:merge_request_iid/unapprove`]: { at: { merge_request_iid: 3 } },
    };
  },
  lists: {
    'GET /merge_requests': { query: 'scope=all' },
    'GET /projects/:id/merge_trains': 'empty',
    'GET /projects/:id/merge_trains/:target_branch': 'empty',
  },
  objectForDelete: () => ({
    '/projects/:id/merge_requests/:merge_request_iid/context_commits': {
      at: { merge_request_iid: 'select 1' },
      with: { commits: [PERSON_1] },
    },
  }),
};
