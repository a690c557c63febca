/** Whether a merge request's commits are squashed: its own choice, and the project's `squash_option`. Pure. */
import type { ProjectSettings } from '../../../kernel/namespaces/project-settings.ts';

type SquashOption = ProjectSettings['squash_option'];

/** The choice of a new merge request that makes none (facts-merge-requests §2.1). */
export const squashByDefault = (option: SquashOption): boolean =>
  option === 'default_on' || option === 'always';

/** `squash_on_merge`: the option of the project may allow no choice (facts-merge-requests §1.1). */
export const squashOnMerge = (option: SquashOption, squash: boolean): boolean =>
  option === 'always' || (option !== 'never' && squash);
