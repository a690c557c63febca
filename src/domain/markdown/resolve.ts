/**
 * Resolves references with the reader's permissions, by one statement for each kind. Hidden records are not
 * found, so that a text does not reveal them.
 */
import { selectProjects } from '../../kernel/access/find.ts';
import {
  type ProjectReference,
  type ReferenceDefinition,
  referenceDefinitions,
} from './reference-definitions.ts';
import type { Reference } from './references.ts';
import type { RenderContext } from './render-context.ts';

/** Distinct references of one text that are resolved; others stay text. */
const MAX_REFERENCES = 500;

const keyOf = ({ kind, path, name, address }: Reference): string =>
  JSON.stringify([kind, path?.toLowerCase(), name, address ?? false]);

/** The full path of a short one: a project beside that of the text. */
function fullPathOf(path: string, context: RenderContext): string {
  if (path.includes('/') || !context.project) return path;
  return `${context.project.row.namespace_full_path}/${path}`;
}

/** The HTML of each reference that resolves. */
export async function resolveReferences(
  context: RenderContext,
  references: readonly Reference[],
): Promise<Map<Reference, string>> {
  const distinct = new Map<string, Reference>();
  for (const reference of references) {
    const key = keyOf(reference);
    if (distinct.size < MAX_REFERENCES && !distinct.has(key)) distinct.set(key, reference);
  }
  const wanted = Map.groupBy(distinct.values(), ({ kind }) => kind);
  const of = ({ kind }: ReferenceDefinition): Reference[] => wanted.get(kind) ?? [];
  const definitions = referenceDefinitions.all(context.services).filter(({ kind }) => wanted.has(kind));
  const inProjects = await resolveProjects(
    context,
    definitions.flatMap((definition) => ('findInProjects' in definition ? of(definition) : [])),
  );
  const found = await Promise.all(
    definitions.map((definition) => {
      if ('find' in definition) return definition.find(context, of(definition));
      const own = inProjects.filter(({ reference }) => reference.kind === definition.kind);
      return definition.findInProjects(context, own);
    }),
  );
  const html = new Map(found.flat().map(([reference, text]) => [keyOf(reference), text]));
  return new Map(
    references.flatMap((reference) => {
      const text = html.get(keyOf(reference));
      return text === undefined ? [] : [[reference, text]];
    }),
  );
}

/** Each reference with its project, if the reader sees it. */
async function resolveProjects(
  context: RenderContext,
  references: readonly Reference[],
): Promise<ProjectReference[]> {
  const paths = new Set(
    references.flatMap(({ path }) => (path === undefined ? [] : fullPathOf(path, context).toLowerCase())),
  );
  const projects = await selectProjects(context.services.database.sql, context.reader, 'read_project', [
    ...paths,
  ]);
  return references.flatMap((reference) => {
    const { path } = reference;
    const project =
      path === undefined ? context.project : projects.get(fullPathOf(path, context).toLowerCase());
    return project ? { reference, project } : [];
  });
}
