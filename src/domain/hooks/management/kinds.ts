/**
 * The kinds of events that hooks tell of: one list (facts-merge-requests: 10.1, 10.5). A capability whose things make them
 * registers how (`events/hook-events.ts`); the flag of a kind without a source is kept, and tells of nothing.
 */

import { type ParentKind, parentKinds } from '../../../kernel/access/resource-parents.ts';

type Kind = {
  /** Of the request's header. */
  header: string;
  /** As the log names it. */
  trigger: string;
  of: readonly ParentKind[];
  /** What hooks that say nothing of it have. */
  default?: readonly ParentKind[];
};

const inside = ['project', 'group'] as const;

const kinds = {
  push_events: { header: 'Push Hook', trigger: 'push_hooks', of: parentKinds, default: inside },
  tag_push_events: { header: 'Tag Push Hook', trigger: 'tag_push_hooks', of: parentKinds },
  merge_requests_events: { header: 'Merge Request Hook', trigger: 'merge_request_hooks', of: parentKinds },
  repository_update_events: {
    header: 'System Hook',
    trigger: 'repository_update_hooks',
    of: ['instance'],
    default: ['instance'],
  },
  issues_events: { header: 'Issue Hook', trigger: 'issue_hooks', of: inside },
  confidential_issues_events: {
    header: 'Confidential Issue Hook',
    trigger: 'confidential_issue_hooks',
    of: inside,
  },
  note_events: { header: 'Note Hook', trigger: 'note_hooks', of: inside },
  confidential_note_events: {
    header: 'Confidential Note Hook',
    trigger: 'confidential_note_hooks',
    of: inside,
  },
  pipeline_events: { header: 'Pipeline Hook', trigger: 'pipeline_hooks', of: inside },
  job_events: { header: 'Job Hook', trigger: 'job_hooks', of: inside },
  wiki_page_events: { header: 'Wiki Page Hook', trigger: 'wiki_page_hooks', of: inside },
  deployment_events: { header: 'Deployment Hook', trigger: 'deployment_hooks', of: inside },
  feature_flag_events: { header: 'Feature Flag Hook', trigger: 'feature_flag_hooks', of: inside },
  releases_events: { header: 'Release Hook', trigger: 'release_hooks', of: inside },
  milestone_events: { header: 'Milestone Hook', trigger: 'milestone_hooks', of: inside },
  emoji_events: { header: 'Emoji Hook', trigger: 'emoji_hooks', of: inside },
  resource_access_token_events: {
    header: 'Resource Access Token Hook',
    trigger: 'resource_access_token_hooks',
    of: inside,
  },
  vulnerability_events: { header: 'Vulnerability Hook', trigger: 'vulnerability_hooks', of: inside },
  subgroup_events: { header: 'Subgroup Hook', trigger: 'subgroup_hooks', of: ['group'] },
  member_events: { header: 'Member Hook', trigger: 'member_hooks', of: ['group'] },
  project_events: { header: 'Project Hook', trigger: 'project_hooks', of: ['group'] },
} as const satisfies Record<string, Kind>;

/** A kind, by the flag that turns it on. */
export type HookFlag = keyof typeof kinds;
export const hookKinds: Readonly<Record<HookFlag, Kind>> = kinds;
const all = Object.keys(kinds) as HookFlag[];

/** The flags that hooks of a project, a group or the instance have. */
export const flagsOf = (parent: ParentKind): HookFlag[] =>
  all.filter((flag) => hookKinds[flag].of.includes(parent));

export const isOnByDefault = (flag: HookFlag, parent: ParentKind): boolean =>
  hookKinds[flag].default?.includes(parent) ?? false;

/** What all hooks of the instance are told of, whatever their flags say. */
export const ALWAYS = 'always';
/** The flag of the hooks that hear of it. */
export type EventFlag = HookFlag | typeof ALWAYS;
