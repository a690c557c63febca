/** Markdown as HTML, for every signed-in caller. */
import Type from 'typebox';
import { signedIn } from '../../kernel/access/access.ts';
import { type AuthorizedProject, selectProjects } from '../../kernel/access/find.ts';
import type { Actor } from '../../kernel/actor.ts';
import { endpoint } from '../../kernel/api/endpoint.ts';
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { notFound } from '../../platform/failure.ts';
import { referenceDefinitions } from './reference-definitions.ts';
import { renderMarkdown } from './render.ts';
import { userReferences } from './user-references.ts';

export { renderDescription } from './description.ts';
export { link, linkAround } from './links.ts';
export {
  type Link,
  type ProjectReference,
  type ReferenceDefinition,
  referenceDefinitions,
} from './reference-definitions.ts';
export { type Reference, referenceAt, scanReferences } from './references.ts';
export { renderEach, renderLine, renderMarkdown } from './render.ts';
export { projectPrefix, type RenderContext } from './render-context.ts';
export { escapeText } from './rendered.ts';
export { trackerNames } from './tracker-names.ts';

/** In characters. */
const MAX_TEXT_LENGTH = 1_048_576;
/** In bytes: the longest text in a client's encoding. */
const BODY_LIMIT = 4 * MAX_TEXT_LENGTH;

/** By its present path alone: no redirect is followed. 404 where the caller does not see it. */
async function findProject(
  services: Needs<'database'>,
  actor: Actor,
  path: string,
): Promise<AuthorizedProject> {
  const projects = await selectProjects(services.database.points, actor, 'read_project', [path]);
  const project = projects.get(path.toLowerCase());
  if (!project) throw notFound('Project');
  return project;
}

export const markdownCapability = (): Capability => ({
  name: 'markdown',
  registrations: [referenceDefinitions.add(userReferences)],
  tables: [],
  endpoints: [
    endpoint({
      method: 'POST',
      path: '/markdown',
      summary: 'Renders a text as HTML that is safe to show.',
      access: signedIn,
      input: Type.Object({
        text: Type.String({ maxLength: MAX_TEXT_LENGTH, description: 'Markdown.' }),
        gfm: Type.Optional(
          Type.Boolean({ default: false, description: 'With references, task lists and emoji.' }),
        ),
        project: Type.Optional(
          Type.String({
            maxLength: 2_000,
            description: 'Full path of the project that references are relative to.',
          }),
        ),
      }),
      bodyLimit: BODY_LIMIT,
      reply: Type.Object({ html: Type.String() }),
      handle: async ({ services, actor, input }) => {
        const { text, gfm = false, project: path } = input;
        const project = path === undefined ? undefined : await findProject(services, actor, path);
        return { html: await renderMarkdown(text, { gfm }, { services, reader: actor, project }) };
      },
    }),
  ],
});
