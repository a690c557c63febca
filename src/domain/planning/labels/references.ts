/** References to labels in texts: `~name`, and `~12` by id. */
import {
  escapeText,
  type Link,
  linkAround,
  type ProjectReference,
  projectPrefix,
  type ReferenceDefinition,
  type RenderContext,
} from '../../markdown/index.ts';
import { nearestRow, referenceNumbers, withinReach } from '../planning-references.ts';
import type { LabelRow } from './label-records.ts';
import { selectReferenced } from './queries.ts';

/** The link of a label in its colour, with its project's path where that is another. */
function labelLink({ name, description, color }: LabelRow, href: string, prefix: string): string {
  const style = /^#[\da-f]{6}$/i.test(color) ? ` style="background-color: ${color}"` : '';
  const place = prefix === '' ? '' : ` <i>in ${escapeText(prefix)}</i>`;
  const text = `<span class="gl-label-text"${style}>${escapeText(name)}${place}</span>`;
  const className = 'gfm-label gl-label-link';
  return `<span class="gl-label">${linkAround({ href, kind: 'label', title: description ?? '', className }, text)}</span>`;
}

async function findLabels(context: RenderContext, references: readonly ProjectReference[]): Promise<Link[]> {
  const readable = references.filter(({ project }) => project.may('read_planning'));
  if (readable.length === 0) return [];
  const { services } = context;
  const names = readable.map(({ reference }) => reference.name);
  const rows = await selectReferenced(services.database.db, withinReach(readable), {
    names,
    numbers: referenceNumbers(readable),
  });
  return readable.flatMap((each): Link[] => {
    const { project, reference } = each;
    const label =
      nearestRow(each, rows, (row) => row.name === reference.name) ??
      nearestRow(each, rows, (row) => String(row.id) === reference.name);
    if (!label) return [];
    const href = `${services.baseUrl()}/${project.fullPath}/-/issues?label_name=${encodeURIComponent(label.name)}`;
    return [[reference, labelLink(label, href, projectPrefix(project, context))]];
  });
}

export const labelReferences: ReferenceDefinition = { kind: 'label', findInProjects: findLabels };
