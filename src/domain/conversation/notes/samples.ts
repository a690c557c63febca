/**
 * By each user a note for itself and one in a thread: on the first issue, epic, merge request, snippet and alert,
 * and on the last commit.
 */
import type { SampleIds } from '../../../../test/support/inventory.ts';
import type { SampleObject, Samples } from '../../../../test/support/samples.ts';

const columns = {
  '/issues/': 'issue_id',
  '/epics/': 'epic_id',
  '/merge_requests/': 'merge_request_id',
  '/snippets/': 'snippet_id',
  '/commits/': 'commit_sha',
  '/alert_management_alerts/': 'alert_id',
};

/** The condition on the notes of the noteable that the path names, within its thread or outside of it. */
function ofNoteable({ project, group }: SampleIds, path: string): string {
  const [, column] = Object.entries(columns).find(([part]) => path.includes(part)) ?? [];
  const thread = path.includes('/discussions/') ? 'in_thread' : 'not in_thread and system_action is null';
  const place = path.startsWith('/groups/') ? `namespace_id = ${group}` : `project_id = ${project}`;
  return `${place} and ${column} is not null and ${thread}`;
}

const changed = { with: { body: 'New' } };
const notes: SampleObject = { table: 'notes', where: ofNoteable };

export const samples: Samples = {
  after: ['work-items/issues', 'work-items/epics', 'merge-requests', 'snippets', 'alerts', 'repositories'],
  rows: ({ project, group }) => `
    insert into notes (project_id, namespace_id, issue_id, epic_id, snippet_id, alert_id, merge_request_id, author_id, body, discussion_id, in_thread,
        created_at, updated_at)
      select t.project, t."group", t.issue, t.epic, t.snippet, t.alert, t.merge_request, p.id, p.username,
        case when x.thread then repeat(t.nth::text, 40) else encode(sha256((t.nth || ' ' || p.id)::bytea), 'hex')::char(40) end,
        x.thread, now(), now()
      from person p, (values (false), (true)) x(thread), (values
        (1, ${project}, null::bigint, (select id from issues where project_id = ${project} and iid = 1), null::bigint, null::bigint, null::bigint, null::bigint),
        (2, null, ${group}, null, (select id from epics where iid = 1), null, null, null),
        (3, ${project}, null, null, null, (select min(id) from snippets where project_id = ${project}), null, null),
        (4, ${project}, null, null, null, null, null, (select id from merge_requests where project_id = ${project} and iid = 1)),
        (5, ${project}, null, null, null, null, (select id from alerts where iid = 1), null)) t(nth, project, "group", issue, epic, snippet, alert, merge_request)
      order by x.thread, p.id, t.nth`,
  async fill(app, _, { project }) {
    await app.app.services.database.sql.unsafe(`
      insert into notes (project_id, commit_sha, author_id, body, discussion_id, in_thread, created_at, updated_at)
        select ${project}, c.sha, u.id, case when thread then 'Hello ' else 'Goodbye ' end || u.id,
          encode(sha256((${project} || case when thread then ' thread' else ' ' || u.id end)::bytea), 'hex')::char(40), thread, now(), now()
        from users u, pipelines c, (values (false), (true)) x(thread)
        where u.username like 'person-%' and c.id = (select max(id) from pipelines where project_id = ${project}) order by thread, u.id`);
  },
  guardedRows: ({ project }) => `
    insert into notes (project_id, issue_id, author_id, body, internal, discussion_id, created_at, updated_at)
      select ${project}, i.id, p.id, 'internal', true, encode(sha256('internal'), 'hex')::char(40), now(), now()
      from person p, issues i where p.username = 'person-2' and i.iid = 1 and i.project_id = ${project}`,
  ownRows: ({ user, project, group }) => `
    insert into notes (project_id, namespace_id, issue_id, epic_id, snippet_id, alert_id, merge_request_id, author_id, body, discussion_id, in_thread,
        created_at, updated_at)
      select t.project, t."group", t.issue, t.epic, t.snippet, t.alert, t.merge_request, ${user}, 'own', repeat(x.digit, 40), x.thread, now(), now()
      from (values (false, 'd'), (true, 'f')) x(thread, digit), (
        select project_id as project, null::bigint as "group", id as issue, null::bigint as epic, null::bigint as snippet,
            null::bigint as alert, null::bigint as merge_request from issues where project_id = ${project}
          union all select null, namespace_id, null, id, null, null, null from epics where namespace_id = ${group}
          union all select project_id, null, null, null, id, null, null from snippets where project_id = ${project}
          union all select project_id, null, null, null, null, id, null from alerts where project_id = ${project}
          union all select project_id, null, null, null, null, null, id from merge_requests where project_id = ${project}) t`,
  objects: {
    'notes/:note_id': notes,
    'discussions/:discussion_id': {
      table: 'notes',
      column: 'discussion_id',
      where: ofNoteable,
      foreign: true,
    },
  },
  requests: async ({ id }) => {
    const first = (column: string) =>
      id(`select min(id) id from notes where ${column} is not null and body = 'person-2'`);
    const ofAnother = async (column: string) => ({ at: { note_id: await first(column) } });
    const [issue, epic, snippet, mergeRequest] = [
      '/projects/:id/issues',
      '/groups/:id/epics',
      '/projects/:id/snippets',
      '/projects/:id/merge_requests',
    ].map((path) => `${path}/:noteable_id`);
    const [onIssue, onEpic, onSnippet, onMergeRequest] = [
      await ofAnother('issue_id'),
      await ofAnother('epic_id'),
      await ofAnother('snippet_id'),
      await ofAnother('merge_request_id'),
    ];
    const confidential = { at: { noteable_id: 6 } };
    const locked = { at: { noteable_id: 7 } };
    const confidentialEpic = { at: { noteable_id: 5 } };
    return {
      [`PUT ${issue}/discussions/:discussion_id/notes/:note_id`]: changed,
      [`PUT ${epic}/discussions/:discussion_id/notes/:note_id`]: changed,
      [`GET ${issue}/notes, confidential`]: confidential,
      [`GET ${issue}/notes/:note_id, internal`]: {
        at: { note_id: await id('select id from notes where internal') },
      },
      [`POST ${issue}/notes, that closes`]: { with: { body: '/close' } },
      [`POST ${issue}/notes, that labels`]: { with: { body: '/label ~person-1' } },
      [`POST ${issue}/notes, that promotes`]: { with: { body: '/promote' } },
      [`POST ${issue}/notes, that relates to one out of sight`]: {
        with: { body: '/relate elsewhere/elsewhere#1' },
      },
      [`POST ${issue}/notes, internal`]: { with: { internal: true } },
      [`POST ${issue}/notes, confidential`]: confidential,
      [`POST ${issue}/notes, locked`]: locked,
      [`POST ${issue}/notes, at another time`]: { with: { created_at: '2020-01-01T00:00:00Z' } },
      [`PUT ${issue}/notes/:note_id, of somebody else`]: onIssue,
      [`DELETE ${issue}/notes/:note_id, of somebody else`]: onIssue,
      [`POST ${issue}/discussions, internal`]: { with: { internal: true } },
      [`POST ${issue}/discussions, locked`]: locked,
      [`PUT ${mergeRequest}/discussions/:discussion_id/notes/:note_id`]: changed,
      [`POST ${mergeRequest}/notes, internal`]: { with: { internal: true } },
      [`POST ${mergeRequest}/notes, locked`]: { at: { noteable_id: 5 } },
      [`PUT ${mergeRequest}/notes/:note_id, of somebody else`]: onMergeRequest,
      [`DELETE ${mergeRequest}/notes/:note_id, of somebody else`]: onMergeRequest,
      [`GET ${epic}/notes, confidential`]: confidentialEpic,
      [`POST ${epic}/notes, internal`]: { with: { internal: true } },
      [`POST ${epic}/notes, confidential`]: confidentialEpic,
      [`PUT ${epic}/notes/:note_id, of somebody else`]: onEpic,
      [`DELETE ${epic}/notes/:note_id, of somebody else`]: onEpic,
      [`PUT ${snippet}/notes/:note_id, of somebody else`]: onSnippet,
      [`DELETE ${snippet}/notes/:note_id, of somebody else`]: onSnippet,
    };
  },
};
