/** What merging reads: approvals, open threads, dependencies, checks, the commits, people and issues that messages name. */
import { type RawBuilder, sql } from 'kysely';
import { ownLimit } from '../../../kernel/repository-size/actions.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { idArray, readTagged, taggedRows } from '../../../platform/db/tagged-rows.ts';
import { type PushRule, pushRuleJson } from '../../repositories/index.ts';
import { type ApprovalRows, type LoadedApprovals, loadedApprovals } from '../approvals/loaded.ts';
import { approvalCtes, approvalSelects } from '../approvals/queries.ts';
import { selectHeadPipelines } from '../records/head-pipeline-queries.ts';
import type { MergeRequestRow } from '../records/merge-request-rows.ts';
import { hasRequestedChanges, isBlocked, selectUnpassed } from '../records/waiting-queries.ts';
import type { Identity } from '../texts/commit-values.ts';

type SourcesRow = {
  unresolved: number;
  blocked: boolean;
  changes_requested: boolean;
  /** Whether anybody but the author has locked a path of the target's project. */
  locks: boolean;
  /** What the target's project asks of commits. */
  push_rule: PushRule | null;
  /** The limit of its size, in MiB. */
  size_limit: number | null;
  /** The branches of each external check that must pass, and has not. */
  unpassed: string[][];
  /** The status of the newest commit's. */
  pipeline: string | null;
  /** Newest first. */
  commits: string[];
  author: Identity;
  /** Who submitted a review, and who approved; the first ones first. */
  reviewers: Identity[];
  approvers: Identity[];
  /** References from the target's project. */
  closes: string[];
};

/** `approvals` are undefined where none is asked for. */
export type SelectedSources = SourcesRow & { approvals: LoadedApprovals | undefined };

const identity = sql`jsonb_build_object('name', u.name, 'email', coalesce(nullif(u.commit_email, ''), u.email))`;

const selectSourcesRow = (id: number): RawBuilder<unknown> => sql`
  select
    (select count(*) from notes n where n.merge_request_id = i.id and n.in_thread and n.resolved_at is null
      and n.system_action is null) as unresolved,
    ${isBlocked(sql.ref('i.id'))} as blocked,
    ${hasRequestedChanges(sql.ref('i.id'))} as changes_requested,
    exists (select from lfs_locks l where l.project_id = i.project_id and l.user_id <> i.author_id) as locks,
    ${pushRuleJson(sql`i.project_id`)} as push_rule,
    ${ownLimit(sql`i.project_id`)} as size_limit,
    (select coalesce(jsonb_agg(u.patterns), '[]') from (${selectUnpassed(sql`array[i.id]`)}) u) as unpassed,
    (select h.status from (${selectHeadPipelines(sql`array[i.id]`)}) h) as pipeline,
    array(select sha from merge_request_commits where merge_request_id = i.id order by place) as commits,
    (select ${identity} from users u where u.id = i.author_id) as author,
    array(select ${identity} from (select author_id, min(id) as first from notes
        where merge_request_id = i.id and system_action = 'reviewed' group by author_id) r
      join users u on u.id = r.author_id order by r.first) as reviewers,
    array(select ${identity} from merge_request_approvals a join users u on u.id = a.user_id
      where a.merge_request_id = i.id order by a.id) as approvers,
    array(select case when s.project_id = i.project_id then '#' || s.iid else n.full_path || '/' || p.path || '#' || s.iid end
      from merge_request_closing_issues c join issues s on s.id = c.issue_id join projects p on p.id = s.project_id
      join namespaces n on n.id = p.namespace_id where c.merge_request_id = i.id order by s.id) as closes
  from merge_requests i where i.id = ${id}`;

/** All of it by one statement; undefined where the merge request is gone. */
export async function selectSources(
  { db, services, settings }: { db: Db; services: Needs<'config'>; settings: ApplicationSettings },
  row: MergeRequestRow,
): Promise<SelectedSources | undefined> {
  const isPremium = services.config.tier !== 'free';
  const of = await readTagged<ApprovalRows & { sources: SourcesRow }>(
    db,
    [taggedRows('sources', selectSourcesRow(row.id)), ...(isPremium ? approvalSelects() : [])],
    isPremium ? approvalCtes(idArray([row.id])) : undefined,
  );
  const [sources] = of('sources');
  return sources && { ...sources, approvals: isPremium ? loadedApprovals(of, settings)(row) : undefined };
}
