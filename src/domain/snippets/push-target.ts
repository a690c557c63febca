/** A snippet for a push: one branch, whose files are listed in its row. */
import { snippetRepository } from '../../core/repositories/containers.ts';
import type { PushTarget } from '../../core/repositories/repository-kinds.ts';
import { recordSnippetFiles } from '../../core/repositories/snippet-files.ts';
import type { SnippetRow } from '../../core/repositories/snippet-records.ts';
import type { Services } from '../../core/services.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';
import { fullRef, NO_OBJECT } from '../../platform/git/names.ts';

const ONE_BRANCH = 'You can not create or delete branches.';

export function snippetPushTarget(
  services: Services,
  settings: ApplicationSettings,
  snippet: SnippetRow,
): PushTarget {
  const { id, default_branch: branch } = snippet;
  const key = snippetRepository(id);
  return {
    key,
    defaultBranch: branch,
    largestPush: settings.snippet_size_limit,
    judge: async () => ({
      refusal: ({ ref, after }) =>
        ref === fullRef('branch', branch) && after !== NO_OBJECT ? undefined : ONE_BRANCH,
      mayForce: () => true,
    }),
    async record(git, _updates, confirmed) {
      await confirmed;
      await recordSnippetFiles(services, git, id, branch);
    },
  };
}
