/** The context of every change of a snippet. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import type { Actor } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';

/** `project` is undefined for personal snippets. */
export type SnippetWriteContext = {
  services: Needs<'database' | 'limiter' | 'repositories' | 'outbound' | 'log' | 'secretKey' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Actor;
  project: AuthorizedProject | undefined;
};
