/** A snippet for a push: one branch, whose files are listed in its row. */

import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { fullRef, NO_OBJECT } from '../../../platform/git/names.ts';
import { type PushTarget, snippetRepository } from '../../repositories/index.ts';
import { recordSnippetFiles } from '../file-actions.ts';
import type { SnippetRow } from '../queries.ts';

const ONE_BRANCH = 'You can not create or delete branches.';

export function snippetPushTarget(
  services: Needs<'database'>,
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
    async record(git, _push, confirmed) {
      await confirmed;
      await recordSnippetFiles(services, git, id, branch);
    },
  };
}
