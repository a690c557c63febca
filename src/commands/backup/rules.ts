/**
 * What becomes of what the program was about to do at the cut. A restored one sends nothing that the other has sent since, and
 * takes up nothing that is over; what changes its own rows and folders alone goes on. All other rows are kept as they are: what
 * expires has its time in its row. docs/backup.md lists these rules for operators. Pure.
 */

type TableRule = { do: 'drop'; why: string } | { do: 'keep'; where: string; why: string };

export const tableRules: Readonly<Record<string, TableRule>> = {
  migrations: { do: 'drop', why: 'the header lists them, and a restore applies them' },
  instance_facts: {
    do: 'keep',
    where: "name <> 'writes_wait_until'",
    why: 'that one is of the backup itself',
  },
  hook_deliveries: { do: 'keep', where: 'sent_at is not null', why: 'those that waited were sent since' },
  hook_events: {
    do: 'keep',
    where:
      'exists (select from hook_deliveries d where d.event_id = hook_events.id and d.sent_at is not null)',
    why: 'they are the bodies of the deliveries that are kept',
  },
  integration_deliveries: { do: 'drop', why: 'each waits to be sent, and was sent since' },
  container_chunks: { do: 'drop', why: 'what arrives is in no backup: the client begins again' },
  container_uploads: { do: 'drop', why: 'what arrives is in no backup: the client begins again' },
  rate_limit_windows: { do: 'drop', why: 'their minutes are over' },
  removed_objects: { do: 'drop', why: 'the program that was backed up removes them from its object store' },
  repository_removals: { do: 'drop', why: 'the folders are in no backup' },
  repository_uses: {
    do: 'keep',
    where: "purpose = 'write'",
    why: 'git may have taken what the rows do not know of: the start settles it, as after a crash',
  },
};

/** Whether all rows of the table are kept. */
export const isWholeTable = (name: string): boolean => tableRules[name] === undefined;

type JobRule = { tasks: readonly RegExp[]; do: 'drop' | 'keep'; why: string };

/** Each task has one rule, which a test sees to: a new one is looked at before it is in a backup. */
export const jobRules: readonly JobRule[] = [
  {
    do: 'drop',
    why: 'a mail, which was sent since; whoever waits for one asks for it again',
    tasks: [
      /^(mail|notifications)\./,
      /^sign_in\.send_(reset|confirmation)$/,
      /^alerts\.mail(_page|_one)?$/,
      /^mirrors\.mail$/,
      /^transfers\.export_mail$/,
    ],
  },
  {
    do: 'drop',
    why: 'a call to another server, which was made since',
    tasks: [/^hooks\.prepare_\w+$/, /^merge_requests\.send_status_checks$/, /^transfers\.upload$/],
  },
  {
    do: 'keep',
    why: 'runs by the clock, and finds what is due in the rows',
    tasks: [
      /^(activity|error_tracking|hooks|oauth|registry|transfers)\.sweep(_events)?$/,
      /^(operations\.forget_windows|users\.resume_deletions|namespaces\.delete_overdue|members\.expire)$/,
      /^(git_http\.forget_fetches|snippets\.sweep_unready|spam\.sweep_logs|storage_moves\.forget_gone)$/,
      /^housekeeping\.(measure|find_forgotten|remove_gone|sweep_drafts)$/,
      /^uploads\.(sweep_blobs|move_blobs|move)$/,
      /^ci\.(start_delayed|take_back|fail_stuck|archive_traces|take_due_schedules|assign_resources|sweep_environments|expire_artifacts)$/,
      /^packages\.(run_cleanup|remove_waiting)$/,
      /^(registry\.run_policies|releases\.collect_evidence|settings\.count_users|backups\.back_up)$/,
      /^tokens\.(retire_bots|announce_expiring)$/,
      /^(oauth\.drop_retired_keys|forget_oauth_devices|forget_sessions)$/,
    ],
  },
  {
    do: 'keep',
    why: 'changes rows and folders of the program alone, and may be done twice',
    tasks: [
      /^(users|namespaces|projects)\.erase$/,
      /^housekeeping\.(repack|record_push)$/,
      /^(wikis|snippets|merge_requests)\.reconcile$/,
      /^(issues|epics|snippets|merge_requests)\.mention_named$/,
      /^merge_requests\.(follow_push|follow_interrupted|judge_branch|add_unmergeable_todos|add_failed_todos)$/,
      /^merge_requests\.(close_issues|close_issues_by_commits|after_merge|auto_merge|requested_merge|requested_rebase)$/,
      /^merge_requests\.(trace_notes|remove_refs|remove_old_refs|await_status_checks_(open|reopen|update))$/,
      /^merge_requests\.(call_approvers|retarget|mention_by_commits|note_picked|make_pipeline)$/,
      /^alerts\.(incident|recovered)$/,
      /^ci\.(await_bridge|start_bridge|follow_pipeline|cancel_children|follow_push|follow_deletions|run_schedule)$/,
      /^(packages\.clean|registry\.(purge_proxy|remove_repository|remove_tags))$/,
      /^transfers\.(export|import|bulk_entity|relation_export)$/,
      // A push of what the other server has already is none.
      /^mirrors\.pushed$/,
    ],
  },
];

/** The rules of a task; exactly one for each that the program knows. */
export const rulesOf = (task: string): readonly JobRule[] =>
  jobRules.filter(({ tasks }) => tasks.some((pattern) => pattern.test(task)));

/** Whether a job of this task goes on after a restore. */
export const goesOn = (task: string): boolean => rulesOf(task).every((rule) => rule.do === 'keep');
