/** A group of very many issues, with labels, assignees and milestones. */
import { fill, withoutIndexes } from './database.ts';

/** The same for any number of issues. */
const PROJECTS = 50;
const LABELS = 40;
const PEOPLE = 30;

/** Makes one group whose projects have `count` issues between them, in the data folder. */
export const makeManyIssues = (data: string, count: number): Promise<void> =>
  fill(data, async (sql) => {
    const time = sql`timestamptz '2026-01-01'`;
    const [group] = await sql<{ id: number }[]>`
      insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
      values ('group', array[]::bigint[], 'Many', 'many', 'many', 'Many', 0, ${time}, ${time}) returning id`;
    const id = group?.id ?? 0;
    await sql`update namespaces set ancestor_ids = array[id] where id = ${id}`;
    await sql`
      insert into projects (namespace_id, name, path, visibility, default_branch, last_activity_at, created_at, updated_at)
      select ${id}, 'Project ' || i, 'project-' || i, 0, 'main', ${time}, ${time}, ${time}
      from generate_series(1, ${PROJECTS}::integer) i`;
    await sql`
      insert into users (username, name, email, confirmed_at, projects_limit, can_create_group, created_at, updated_at)
      select 'person-' || i, 'Person ' || i, 'person-' || i || '@example.com', ${time}, 10, true, ${time}, ${time}
      from generate_series(1, ${PEOPLE}::integer) i`;
    await sql`
      insert into labels (namespace_id, name, color, created_at, updated_at)
      select ${id}, 'label ' || i, '#336699', ${time}, ${time} from generate_series(1, ${LABELS}::integer) i`;
    await sql`
      insert into milestones (iid, namespace_id, title, created_at, updated_at)
      select i, ${id}, 'Milestone ' || i, ${time}, ${time} from generate_series(1, 10) i`;
    await sql`alter table issues disable trigger user`;
    await withoutIndexes(
      sql,
      'issues',
      () => sql`
        insert into issues (iid, project_id, author_id, title, description, milestone_id, relative_position, created_at, updated_at)
        select 1 + i / ${PROJECTS}, (select min(id) from projects) + i % ${PROJECTS},
          (select min(id) from users where username like 'person-%') + i % ${PEOPLE},
          'Issue ' || i, 'About issue ' || i, (select min(id) from milestones) + i % 10, i, t, t
        from (select i, timestamptz '2026-01-01' + i * interval '1 second' as t
          from generate_series(0, ${count - 1}::integer) i) made`,
    );
    await sql`alter table issues enable trigger user`;
    await sql`
      insert into project_counters (project_id, issues, open_issues)
      select project_id, max(iid), count(*) from issues group by project_id`;
    await withoutIndexes(
      sql,
      'issue_assignees',
      () => sql`
        insert into issue_assignees (issue_id, user_id)
        select id, (select min(id) from users where username like 'person-%') + id % ${PEOPLE} from issues`,
    );
    await withoutIndexes(
      sql,
      'label_links',
      () => sql`
        insert into label_links (label_id, issue_id)
        select (select min(id) from labels) + (id * 7 + n) % ${LABELS}, id from issues, generate_series(0, 1) n`,
    );
    await sql`vacuum analyze`;
  });
