/** The refs that keep what merge requests need, in the target's repository. */

/** The folder of those that git fetches by name. */
export const fetchedFolder = (iid: number): string => `refs/merge-requests/${iid}`;

/** The folders of all refs of one merge request alone. */
export const refFolders = (iid: number): string[] => [
  fetchedFolder(iid),
  `refs/ashlar/merge-requests/${iid}`,
];

/** The source as it is; git fetches it by its name (facts: Side effects of merge). */
export const sourceRef = (iid: number): string => `refs/merge-requests/${iid}/head`;

/** Keeps the head of an older version, whose branch has moved on or is gone; nobody sees it. */
export const keptRef = (iid: number, head: string): string => `refs/ashlar/merge-requests/${iid}/${head}`;

/** Keeps what came from a fork until a version has it; nobody sees it. */
export const fetchedRef = (head: string): string => `refs/ashlar/fetched/${head}`;
/** What merging would make of the target; git fetches it by its name (facts: Side effects of merge). */
export const mergeRef = (iid: number): string => `refs/merge-requests/${iid}/merge`;
