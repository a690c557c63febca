/** Projects in a list. */
import type { BasicProject } from '../../core/namespaces/project-records.ts';
import { type Html, html } from '../../platform/http/html.ts';
import type { Looking } from './door.ts';
import { avatar, dayOf, listOf, thing, wordTag } from './parts.ts';

export const projectList = (looking: Looking, projects: readonly BasicProject[], none: string): Html =>
  listOf(
    projects.map(
      (project) => html`${avatar(looking, project.name, project.avatar_url)}
${thing(
  html`<a href="/${project.path_with_namespace}">${project.name_with_namespace}</a> ${wordTag(project.visibility)}`,
  project.description,
  html`${dayOf(project.last_activity_at)}`,
)}`,
    ),
    none,
  );
