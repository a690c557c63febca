/** The project and reader of a text. */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import type { Caller } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';

export type RenderContext = {
  services: Needs<'database' | 'repositories' | 'registered' | 'baseUrl'>;
  /** The user whose permissions count. */
  reader: Caller;
  /** The project of the text; short references are to its records. */
  project?: AuthorizedProject | undefined;
};

/** The project in a reference: nothing, its own path, or its full path. */
export function projectPrefix(project: AuthorizedProject, { project: here }: RenderContext): string {
  if (here?.id === project.id) return '';
  return here?.row.namespace_id === project.row.namespace_id ? project.row.path : project.fullPath;
}
