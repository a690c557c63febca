/** Very many merge requests, with labels, assignees and milestones, in the projects of makeManyIssues(). */
import { fill, withoutIndexes } from './database.ts';

/** Fills the projects of the group `many` with `count` merge requests between them, every second one merged. */
export const makeManyMergeRequests = (data: string, count: number): Promise<void> =>
  fill(data, async (sql) => {
    const [known] = await sql<{ projects: number; first: number; people: number; person: number }[]>`
      select (select count(*)::integer from projects) as projects, (select min(id) from projects) as first,
        (select count(*)::integer from users where username like 'person-%') as people,
        (select min(id) from users where username like 'person-%') as person`;
    const { projects = 0, first = 0, people = 0, person = 0 } = known ?? {};
    await sql`alter table merge_requests disable trigger user`;
    await withoutIndexes(
      sql,
      'merge_requests',
      () => sql`
        insert into merge_requests (iid, project_id, source_project_id, source_branch, target_branch, author_id, title,
          description, state, draft, head_sha, commits_count, merge_status, judged_source_sha, judged_target_sha, noted_sha,
          merge_commit_sha, merge_user_id, merged_at, milestone_id, prepared_at, created_at, updated_at)
        select 1 + i / ${projects}, ${first} + i % ${projects}, ${first} + i % ${projects}, 'topic-' || i, 'main',
          ${person} + i % ${people}, 'Merge request ' || i, 'About merge request ' || i,
          case when merged then 'merged' else 'opened' end, false, sha, 1, 'can_be_merged', sha, sha, sha,
          case when merged then sha end, case when merged then ${person}::bigint end, case when merged then t end,
          (select min(id) from milestones) + i % 10, t, t, t
        from (select i, i % 2 = 0 as merged, md5(i::text) || left(md5('of ' || i), 8) as sha,
            timestamptz '2026-01-01' + i * interval '1 second' as t
          from generate_series(0, ${count - 1}::integer) i) made`,
    );
    await sql`alter table merge_requests enable trigger user`;
    await sql`
      update project_counters c set merge_requests = m.last, open_merge_requests = m.opened
      from (select project_id, max(iid) as last, count(*) filter (where state = 'opened') as opened
        from merge_requests group by project_id) m
      where m.project_id = c.project_id`;
    await withoutIndexes(
      sql,
      'merge_request_assignees',
      () => sql`
        insert into merge_request_assignees (merge_request_id, user_id)
        select id, ${person} + id % ${people} from merge_requests`,
    );
    await withoutIndexes(
      sql,
      'label_links',
      () => sql`
        insert into label_links (label_id, merge_request_id)
        select (select min(id) from labels) + (id * 7 + n) % 40, id from merge_requests, generate_series(0, 1) n`,
    );
    await sql`vacuum analyze`;
  });
