/** What `PUT …/merge` asks; kept as it is while an automatic merge waits. */
export type MergeWish = {
  mergeMessage?: string | undefined;
  squashMessage?: string | undefined;
  shouldRemoveSourceBranch?: boolean | undefined;
  auto: boolean;
  sha?: string | undefined;
  /** An explicit false does not override the merge request's choice. */
  squash: boolean;
  /** Whether it was asked for in admin mode. */
  admin_mode?: true | undefined;
};
