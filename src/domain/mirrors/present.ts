/** Mirrors as records. */
import { shownUrl } from './credentials.ts';
import type { MirrorRow } from './queries.ts';
import type { Status } from './rules.ts';
import type { PullMirror, RemoteMirror } from './schema.ts';

const sharedFields = (row: MirrorRow) => ({
  id: row.id,
  enabled: row.enabled,
  url: shownUrl(row),
  // Written from a Status only.
  update_status: row.status as Status,
  last_update_at: row.last_update_at?.toISOString() ?? null,
  last_update_started_at: row.last_update_started_at?.toISOString() ?? null,
  last_successful_update_at: row.last_successful_update_at?.toISOString() ?? null,
  last_error: row.last_error,
  mirror_branch_regex: row.branch_regex,
});

export const presentPullMirror = (row: MirrorRow): PullMirror => ({
  ...sharedFields(row),
  mirror_trigger_builds: row.trigger_builds,
  only_mirror_protected_branches: row.only_protected,
  mirror_overwrites_diverged_branches: row.overwrites,
});

export const presentRemoteMirror = (row: MirrorRow): RemoteMirror => ({
  ...sharedFields(row),
  only_protected_branches: row.only_protected ?? false,
  keep_divergent_refs: row.overwrites === false,
  auth_method: 'password',
  host_keys: [],
});

/** What the record of a project says of where it comes from, to those who manage its mirrors. */
export const presentSource = (row: MirrorRow) => ({
  import_url: shownUrl(row),
  import_type: 'git',
  import_status: row.status,
  import_error: row.last_error,
  mirror: row.enabled,
  ...(row.enabled && {
    mirror_user_id: row.user_id,
    mirror_trigger_builds: row.trigger_builds,
    only_mirror_protected_branches: row.only_protected,
    mirror_overwrites_diverged_branches: row.overwrites,
  }),
});
