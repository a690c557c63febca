/**
 * References to the tracker that a project has: `STONE-12`, and where the project has no issues of its own `#12`. Its address is no
 * secret: whoever reads the text gets the link.
 */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { projectSettings } from '../../../kernel/namespaces/project-settings.ts';
import {
  type Link,
  link,
  type Reference,
  type ReferenceDefinition,
  type RenderContext,
} from '../../markdown/index.ts';
import { integrations } from '../descriptions/descriptions.ts';
import type { Properties } from '../kinds/description.ts';
import { selectActiveOf } from '../management/queries.ts';

const trackers = [...integrations.values()].flatMap(({ slug, tracker }) => (tracker ? [slug] : []));

/** With a value in one of these, an integration names issues in a way of its own. */
export const namingFields = [...integrations.values()].flatMap(
  ({ trackerNames }) => trackerNames?.fields ?? [],
);

/** How texts of the project name issues, where its tracker has a way of its own. */
export async function readOwnNames(
  { services }: RenderContext,
  project: AuthorizedProject,
): Promise<string | undefined> {
  const [row] = await selectActiveOf(services.database.db, project, trackers);
  return row && integrations.get(row.slug)?.trackerNames?.pattern(row.properties as Properties);
}

async function findExternal(
  { services, project }: RenderContext,
  references: readonly Reference[],
): Promise<Link[]> {
  const own = references.filter(({ path, address }) => path === undefined && !address);
  if (!project || own.length === 0) return [];
  const [row] = await selectActiveOf(services.database.db, project, trackers);
  const description = row && integrations.get(row.slug);
  return own.flatMap((reference): Link[] => {
    const { kind, name, text } = reference;
    const written = kind === 'issue' ? `#${name}` : name;
    const href = description?.tracker?.(written, row?.properties as Properties);
    if (!href) return [];
    return [
      [
        reference,
        link({ href, kind, className: 'gfm-issue', title: `Issue in ${description?.title}`, text }),
      ],
    ];
  });
}

export const externalReferences: ReferenceDefinition[] = [
  { kind: 'external_issue', find: findExternal },
  {
    kind: 'issue',
    find: async (context, references) => {
      const { project } = context;
      const hasIssues = !project || projectSettings(project.row).issues_access_level !== 'disabled';
      return hasIssues ? [] : findExternal(context, references);
    },
  },
];
