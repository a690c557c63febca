/** The context of every change of a snippet. */
import type { AuthorizedProject } from '../../core/access/find.ts';
import type { Actor } from '../../core/identity/actor.ts';
import type { Services } from '../../core/services.ts';
import type { ApplicationSettings } from '../../core/settings/definitions.ts';

/** `project` is undefined for personal snippets. */
export type SnippetWriteContext = {
  services: Services;
  settings: ApplicationSettings;
  actor: Actor;
  project: AuthorizedProject | undefined;
};
