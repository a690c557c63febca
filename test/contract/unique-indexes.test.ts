/** Values of clients that a unique index refuses are answered: each index is declared, or nothing collides with it. */
import { expect, test } from 'vitest';
import { useApp } from '../support/app.ts';

const ashlar = useApp({ still: true });

/** Indexes that no request collides with, by the reason. */
const neverRefuses: Record<string, string[]> = {
  'digests and names of random bytes': [
    'access_tokens_digest_key',
    'alert_integrations_identifier',
    'ci_jobs_token',
    'deploy_tokens_digest_key',
    'error_tracking_client_keys_public_key_key',
    'invitations_token_digest_key',
    'oauth_applications_uid_key',
    'oauth_devices_digest_key',
    'oauth_grants_code_digest_key',
    'oauth_refresh_tokens_digest_key',
    'oauth_signing_keys_kid_key',
    'sessions_digest_key',
    'trigger_tokens_digest_key',
    'uploads_secret_key',
    'users_reset',
  ],
  'written with `on conflict`': [
    'access_requests_namespace',
    'access_requests_project',
    'approval_settings_namespace_id_key',
    'approval_settings_project_id_key',
    'award_emoji_once',
    'custom_attributes_namespace',
    'custom_attributes_project',
    'custom_attributes_user',
    'deploy_keys_projects_pkey',
    'epic_issues_issue_id_key',
    'error_counts_pkey',
    'error_events_event_id',
    'error_tags_pkey',
    'error_tracking_settings_pkey',
    'error_users_pkey',
    'errors_project_fingerprint',
    'feature_gates_pkey',
    'follows_pkey',
    'group_counters_pkey',
    'group_group_links_shared_group_id_shared_with_group_id_key',
    'group_wikis_pkey',
    'hook_events_fact',
    'identities_user_id_provider_key',
    'incident_settings_pkey',
    'instance_facts_pkey',
    'integration_deliveries_fact',
    'integrations_namespace',
    'integrations_project',
    'invitations_namespace',
    'invitations_project',
    'issue_links_pair',
    'label_priorities_pkey',
    'members_namespace',
    'members_project',
    'merge_request_committers_pkey',
    'merge_request_context_commits_once',
    'notes_mentioned_in_commit',
    'notes_mentioned_in_epic',
    'notes_mentioned_in_issue',
    'notes_mentioned_in_merge_request',
    'notes_mentioned_in_snippet',
    'notification_settings_user_id_project_id_namespace_id_key',
    'oauth_devices_user_code_key',
    'processes_pkey',
    'project_counters_pkey',
    'project_redirects_pkey',
    'protected_branches_name',
    'protected_tags_name',
    'rate_limit_windows_pkey',
    'related_epic_links_pair',
    'repositories_container',
    'stars_pkey',
    'status_check_responses_once',
    'subscriptions_once',
    'wiki_pages_group',
    'wiki_pages_project',
    'application_settings_pkey',
  ],
  'numbered by a counter that is locked': [
    'alerts_project_iid',
    'epics_group_iid',
    'merge_requests_project_iid',
    'milestones_group_iid',
    'milestones_project_iid',
    'pipelines_project_iid',
  ],
  'parts of a row that is new or locked': [
    'alert_assignees_pkey',
    'approval_rule_branches_pkey',
    'approval_rule_groups_pkey',
    'approval_rule_users_pkey',
    'ci_jobs_status_name',
    'external_status_check_branches_pkey',
    'issue_assignees_pkey',
    'label_links_epic',
    'label_links_issue',
    'label_links_merge_request',
    'merge_request_approvals_once',
    'merge_request_assignees_pkey',
    'merge_request_closing_issues_pkey',
    'merge_request_commits_pkey',
    'merge_request_reviewers_pkey',
    'namespaces_owner',
    'pipeline_variables_pipeline_id_key_key',
  ],
  'answered with the number of what is there': ['merge_requests_open_once'],
  'written by one job of a queue at a time': ['pipelines_fact'],
  'made under a lock of its own': [
    'approval_rules_group_any',
    'approval_rules_merge_request_any',
    'approval_rules_project_any',
    'ci_variables_instance',
    'ci_variables_namespace',
    'ci_variables_project',
    'merge_request_blocks_once',
    'migrations_pkey',
    'oauth_signing_keys_current',
    'users_alert_bot',
  ],
};

test('every unique index is declared by one capability, or has a reason why it refuses nothing', async () => {
  const rows = await ashlar.app.services.database.sql<{ name: string }[]>`
    select i.indexrelid::regclass::text as name from pg_index i
    where i.indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
      and i.indisunique and not exists (
        select from pg_attribute a where a.attrelid = i.indrelid and a.attnum = i.indkey[0]
          and i.indnkeyatts = 1 and a.attidentity <> '')`;
  const declared = ashlar.app.capabilities.flatMap(({ unique = {} }) => Object.keys(unique));
  expect(declared.length).toBeGreaterThan(10);
  const known = [...declared, ...Object.values(neverRefuses).flat()].sort();
  expect(known).toEqual(rows.map(({ name }) => name).sort());
});
