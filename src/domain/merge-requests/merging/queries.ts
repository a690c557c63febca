/** What merging reads: open threads, the commits, the author's identity, the issues that it closes. */
import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { Identity } from '../texts/commit-values.ts';

export type SelectedSources = {
  unresolved: number;
  /** Newest first. */
  commits: string[];
  author: Identity;
  /** References from the target's project. */
  closes: string[];
};

export async function selectSources(db: Db, id: number): Promise<SelectedSources | undefined> {
  const { rows } = await sql<SelectedSources>`
    select
      (select count(*) from notes n where n.merge_request_id = i.id and n.in_thread and n.resolved_at is null
        and n.system_action is null) as unresolved,
      array(select sha from merge_request_commits where merge_request_id = i.id order by place) as commits,
      (select jsonb_build_object('name', u.name, 'email', coalesce(nullif(u.commit_email, ''), u.email))
        from users u where u.id = i.author_id) as author,
      array(select case when s.project_id = i.project_id then '#' || s.iid else n.full_path || '/' || p.path || '#' || s.iid end
        from merge_request_closing_issues c join issues s on s.id = c.issue_id join projects p on p.id = s.project_id
        join namespaces n on n.id = p.namespace_id where c.merge_request_id = i.id order by s.id) as closes
    from merge_requests i where i.id = ${id}`.execute(db);
  return rows[0];
}
