/** Where a text stands and who reads it, and what its references are found for. */
import type { AuthorizedProject } from '../access/find.ts';
import type { Caller } from '../identity/actor.ts';
import type { Services } from '../services.ts';
import type { Reference } from './references.ts';

export type RenderContext = {
  services: Services;
  /** Whose rights count. */
  reader: Caller;
  /** The project in which the text stands; its short references are to what is there. */
  project?: AuthorizedProject | undefined;
};

/** How the project is named in a text: not at all, by its own name, or in full. */
export function projectPrefix(project: AuthorizedProject, { project: here }: RenderContext): string {
  if (here?.id === project.id) return '';
  return here?.row.namespace_id === project.row.namespace_id ? project.row.path : project.fullPath;
}

/** A reference whose project the reader sees. */
export type ResolvedReference = { reference: Reference; project: AuthorizedProject };

/** A reference, and the HTML that stands for it. */
export type Link = [reference: Reference, html: string];
