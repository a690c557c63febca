/** Projects in a list. */
import type { BasicProject } from '../../../kernel/namespaces/project-records.ts';
import { type Html, html } from '../../../platform/http/pages/html.ts';
import { avatar, dayOf, listOf, thing, wordTag } from '../view/components.ts';
import type { ViewContext } from '../view/view-context.ts';

export const projectList = (view: ViewContext, projects: readonly BasicProject[], none: string): Html =>
  listOf(
    projects.map(
      (project) => html`${avatar(view, project.name, project.avatar_url)}
${thing(
  html`<a href="/${project.path_with_namespace}">${project.name_with_namespace}</a> ${wordTag(project.visibility)}`,
  project.description,
  html`${dayOf(project.last_activity_at)}`,
)}`,
    ),
    none,
  );
