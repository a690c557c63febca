/** What jobs are told of their merge request (facts for CI: Predefined variables). Pure. */
import type { MergeRequestBasicRecord } from '../records/merge-request-records.ts';
import type { VersionRow } from '../records/merge-request-rows.ts';

/** Characters of a description; a longer one is cut. */
const MAX_DESCRIPTION_LENGTH = 2_700;

type Side = { id: number; fullPath: string; url: string; isProtected: boolean };

export type MergeRequestFacts = {
  record: MergeRequestBasicRecord;
  version: Pick<VersionRow, 'id' | 'base_sha'>;
  source: Side;
  target: Side;
  /** Undefined where the tier asks for no approvals. */
  isApproved: boolean | undefined;
};

/** `a`, `a and b`, `a, b, and c`. */
export function sentenceOf(names: readonly string[]): string {
  if (names.length < 3) return names.join(' and ');
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`;
}

/** In the order of the table; what does not apply is absent. */
export function mergeRequestVariables({
  record,
  version,
  source,
  target,
  isApproved,
}: MergeRequestFacts): { key: string; value: string }[] {
  const description = record.description ?? '';
  const values: Record<string, string | undefined> = {
    ID: String(record.id),
    IID: String(record.iid),
    REF_PATH: `refs/merge-requests/${record.iid}/head`,
    PROJECT_ID: String(target.id),
    PROJECT_PATH: target.fullPath,
    PROJECT_URL: target.url,
    TARGET_BRANCH_NAME: record.target_branch,
    TARGET_BRANCH_PROTECTED: String(target.isProtected),
    TARGET_BRANCH_SHA: '',
    TITLE: record.title,
    DRAFT: String(record.draft),
    DESCRIPTION: description.slice(0, MAX_DESCRIPTION_LENGTH),
    DESCRIPTION_IS_TRUNCATED: String(description.length > MAX_DESCRIPTION_LENGTH),
    ASSIGNEES:
      record.assignees.length > 0 ? sentenceOf(record.assignees.map(({ username }) => username)) : undefined,
    MILESTONE: record.milestone?.title,
    LABELS: record.labels.length > 0 ? record.labels.join(',') : undefined,
    SQUASH_ON_MERGE: String(record.squash_on_merge),
    APPROVED: isApproved ? 'true' : undefined,
    SOURCE_PROJECT_ID: String(source.id),
    SOURCE_PROJECT_PATH: source.fullPath,
    SOURCE_PROJECT_URL: source.url,
    SOURCE_BRANCH_NAME: record.source_branch,
    SOURCE_BRANCH_PROTECTED: String(source.isProtected),
    SOURCE_BRANCH_SHA: '',
    EVENT_TYPE: 'detached',
    DIFF_ID: String(version.id),
    DIFF_BASE_SHA: version.base_sha,
  };
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ key: `CI_MERGE_REQUEST_${name}`, value }],
  );
}
