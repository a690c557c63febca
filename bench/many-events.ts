/** A public project with very many events: of issues, notes, pushes and users who join. */
import { createHash } from 'node:crypto';
import { fill, withoutIndexes } from './database.ts';

export const MEMBER_TOKEN = 'glpat-member-token-of-the-bench';
/** The full path of the project. */
export const BUSY_PROJECT = 'busy/project';

/** The same for any number of events. */
const PEOPLE = 30;
const ISSUES = 1_000;

/** Makes a project with `count` events, and a member of it, in the data folder. */
export const makeManyEvents = (data: string, count: number): Promise<void> =>
  fill(data, async (sql) => {
    const time = sql`timestamptz '2026-01-01'`;
    const [group] = await sql<{ id: number }[]>`
      insert into namespaces (kind, ancestor_ids, name, path, full_path, full_name, visibility, created_at, updated_at)
      values ('group', array[]::bigint[], 'Busy', 'busy', 'busy', 'Busy', 20, ${time}, ${time}) returning id`;
    const id = group?.id ?? 0;
    await sql`update namespaces set ancestor_ids = array[id] where id = ${id}`;
    const [made] = await sql<{ id: number }[]>`
      insert into projects (namespace_id, name, path, visibility, default_branch, last_activity_at, created_at, updated_at)
      values (${id}, 'Project', 'project', 20, 'main', ${time}, ${time}, ${time}) returning id`;
    const project = made?.id ?? 0;
    const people = await sql<{ id: number }[]>`
      insert into users (username, name, email, confirmed_at, projects_limit, can_create_group, created_at, updated_at)
      select 'person-' || i, 'Person ' || i, 'person-' || i || '@example.com', ${time}, 10, true, ${time}, ${time}
      from generate_series(1, ${PEOPLE}::integer) i returning id`;
    const first = Math.min(...people.map((person) => person.id));
    await sql`
      insert into members (user_id, project_id, access_level, created_at, updated_at)
      values (${first}, ${project}, 30, ${time}, ${time})`;
    await sql`
      insert into access_tokens (kind, digest, user_id, name, scopes, created_at, updated_at)
      values ('personal', ${createHash('sha256').update(MEMBER_TOKEN).digest()}, ${first}, 'bench', ${['api']}, ${time}, ${time})`;
    const issues = await sql<{ id: number }[]>`
      insert into issues (iid, project_id, author_id, title, relative_position, created_at, updated_at)
      select i, ${project}, ${first}::bigint + i % ${PEOPLE}, 'Issue ' || i, i, ${time}, ${time}
      from generate_series(1, ${ISSUES}::integer) i returning id`;
    const issue = Math.min(...issues.map((each) => each.id));
    const notes = await sql<{ id: number }[]>`
      insert into notes (project_id, issue_id, author_id, body, discussion_id, created_at, updated_at)
      select ${project}, ${issue}::bigint + i - 1, ${first}::bigint + i % ${PEOPLE}, 'About ' || i,
        lpad(i::text, 40, '0'), ${time}, ${time}
      from generate_series(1, ${ISSUES}::integer) i returning id`;
    const note = Math.min(...notes.map((each) => each.id));
    const push = {
      ...{ commit_count: 1, action: 'pushed', ref_type: 'branch', ref: 'main', ref_count: null },
      ...{ commit_from: '0'.repeat(39), commit_to: '1'.repeat(40), commit_title: 'Mend the bridge' },
    };
    await withoutIndexes(
      sql,
      'activity_events',
      () => sql`
        insert into activity_events (project_id, author_id, action, target_type, target_id, details, created_at)
        select ${project}, ${first}::bigint + i % ${PEOPLE},
          (array['created', 'commented', 'pushed', 'joined'])[1 + i % 4],
          (array['Issue', 'Note', null, null])[1 + i % 4],
          case i % 4 when 0 then ${issue}::bigint + i % ${ISSUES} when 1 then ${note}::bigint + i % ${ISSUES} end,
          case i % 4 when 2 then ${JSON.stringify({ push_data: push })}::text::jsonb end,
          ${time} + i * interval '1 second'
        from generate_series(0, ${count - 1}::integer) i`,
    );
    await sql`vacuum analyze`;
  });
