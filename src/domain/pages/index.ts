/** Pages to read: every address that a record or a mail names leads to one, for readers of the record. */
import type { Capability } from '../../kernel/capability.ts';
import { ANY_PATH } from '../../platform/http/path-segments.ts';
import { readingPage, type Show } from './view/view-context.ts';

/**
 * The pages below a dash, or below the root where there is none; each module is loaded with its first page.
 */
const shown: [path: string, load: () => Promise<Show>][] = [
  ['/:path+/-/tree', async () => (await import('./repositories/tree-pages.ts')).showTree],
  ['/:path+/-/tree/*', async () => (await import('./repositories/tree-pages.ts')).showTree],
  ['/:path+/-/blob/*', async () => (await import('./repositories/tree-pages.ts')).showBlob],
  ['/:path+/-/raw/*', async () => (await import('./repositories/tree-pages.ts')).sendRaw],
  ['/:path+/-/commits', async () => (await import('./repositories/commit-pages.ts')).showCommits],
  ['/:path+/-/commits/*', async () => (await import('./repositories/commit-pages.ts')).showCommits],
  ['/:path+/-/commit/:sha', async () => (await import('./repositories/commit-pages.ts')).showCommit],
  ['/:path+/-/compare/*', async () => (await import('./repositories/commit-pages.ts')).showCompare],
  ['/:path+/-/pipelines', async () => (await import('./ci/pipeline-pages.ts')).showPipelines],
  ['/:path+/-/pipelines/:id', async () => (await import('./ci/pipeline-pages.ts')).showPipeline],
  ['/:path+/-/pipelines/:id/coverage', async () => (await import('./ci/coverage-pages.ts')).showCoverage],
  ['/:path+/-/jobs/:id', async () => (await import('./ci/pipeline-pages.ts')).showJob],
  ['/:path+/-/jobs/:id/artifacts/browse', async () => (await import('./ci/artifact-pages.ts')).showArchive],
  ['/:path+/-/jobs/:id/artifacts/browse/*', async () => (await import('./ci/artifact-pages.ts')).showArchive],
  ['/:path+/-/packages', async () => (await import('./package-pages.ts')).showPackages],
  ['/:path+/-/packages/:id', async () => (await import('./package-pages.ts')).showPackage],
  ['/:path+/-/packages/:id/files/:file', async () => (await import('./package-pages.ts')).sendPackageFile],
  // Records of Terraform modules name another address.
  ['/:path+/-/terraform_module_registry/:id', async () => (await import('./package-pages.ts')).showPackage],
  ['/:path+/-/branches', async () => (await import('./repositories/commit-pages.ts')).showBranches],
  ['/:path+/-/tags', async () => (await import('./repositories/commit-pages.ts')).showTags],
  // The record of a release names the address of its tag: that of the files there.
  ['/:path+/-/tags/*', async () => (await import('./repositories/tree-pages.ts')).showTree],
  ['/:path+/-/archive/*', async () => (await import('./repositories/release-pages.ts')).sendArchive],
  ['/:path+/-/releases', async () => (await import('./repositories/release-pages.ts')).showReleases],
  ['/:path+/-/releases/:tag', async () => (await import('./repositories/release-pages.ts')).showRelease],
  // The record names an address for changes; here they are read.
  ['/:path+/-/releases/:tag/edit', async () => (await import('./repositories/release-pages.ts')).showRelease],
  ['/:path+/-/issues', async () => (await import('./work-items/issue-pages.ts')).showIssues],
  ['/:path+/-/issues/:iid', async () => (await import('./work-items/issue-pages.ts')).showIssue],
  [
    '/:path+/-/merge_requests',
    async () => (await import('./work-items/merge-request-pages.ts')).showMergeRequests,
  ],
  [
    '/:path+/-/merge_requests/:iid',
    async () => (await import('./work-items/merge-request-pages.ts')).showMergeRequest,
  ],
  // Notes about pushes name an address for the differences of two versions.
  [
    '/:path+/-/merge_requests/:iid/diffs',
    async () => (await import('./work-items/merge-request-pages.ts')).showMergeRequestDiffs,
  ],
  ['/:path+/-/alert_management', async () => (await import('./work-items/alert-pages.ts')).showAlerts],
  [
    '/:path+/-/alert_management/:iid/details',
    async () => (await import('./work-items/alert-pages.ts')).showAlert,
  ],
  ['/:path+/-/epics', async () => (await import('./work-items/epic-pages.ts')).showEpics],
  ['/:path+/-/epics/:iid', async () => (await import('./work-items/epic-pages.ts')).showEpic],
  // The record names an address for changes; here they are read.
  ['/:path+/-/epics/:iid/edit', async () => (await import('./work-items/epic-pages.ts')).showEpic],
  ['/:path+/-/milestones', async () => (await import('./work-items/milestone-pages.ts')).showMilestones],
  ['/:path+/-/milestones/:iid', async () => (await import('./work-items/milestone-pages.ts')).showMilestone],
  ['/:path+/-/labels', async () => (await import('./work-items/milestone-pages.ts')).showLabels],
  ['/:path+/-/wikis', async () => (await import('./wiki-pages.ts')).showWiki],
  ['/:path+/-/wikis/*', async () => (await import('./wiki-pages.ts')).showWikiPage],
  ['/:path+/-/error_tracking', async () => (await import('./errors/error-pages.ts')).showErrors],
  [
    '/:path+/-/error_tracking/:error_id/details',
    async () => (await import('./errors/error-pages.ts')).showError,
  ],
  ['/:path+/-/snippets', async () => (await import('./snippet-pages.ts')).showSnippets],
  ...['/:path+', ''].flatMap((home): [string, () => Promise<Show>][] => [
    [`${home}/-/snippets/:id`, async () => (await import('./snippet-pages.ts')).showSnippet],
    [`${home}/-/snippets/:id/raw`, async () => (await import('./snippet-pages.ts')).sendSnippet],
    [`${home}/-/snippets/:id/raw/*`, async () => (await import('./snippet-pages.ts')).sendSnippetFile],
  ]),
  // Other programs have forms there.
  ...[
    'issues',
    'merge_requests',
    'epics',
    'milestones',
    'labels',
    'snippets',
    'branches',
    'tags',
    'releases',
  ].map((kind): [string, () => Promise<Show>] => [
    `/:path+/-/${kind}/new`,
    async () => (await import('./new-pages.ts')).showNew,
  ]),
  ['/-/snippets/new', async () => (await import('./new-pages.ts')).showNewSnippet],
  ['/projects/new', async () => (await import('./new-pages.ts')).showNewProject],
  ['/groups/new', async () => (await import('./new-pages.ts')).showNewGroup],
  [ANY_PATH, async () => (await import('./namespaces/any-page.ts')).showAny],
];

export const pagesCapability = (): Capability => ({
  name: 'pages',
  endpoints: [],
  pages: shown.map(([path, load]) => readingPage(path, load)),
  tables: [],
});
