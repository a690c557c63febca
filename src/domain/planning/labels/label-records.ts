/** Labels in other records, and their colours. */
import type { Selectable } from 'kysely';
import Type, { type Static } from 'typebox';
import type { LabelsTable } from '../../../platform/db/rows.ts';
import { invalid } from '../../../platform/failure.ts';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import { namedColors } from './color-names.ts';

export type LabelRow = Selectable<LabelsTable>;
export type LabelBasicRow = Pick<LabelRow, 'id' | 'name' | 'description' | 'color' | 'archived'>;

export const LabelBasicRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  description: nullable(Type.String()),
  description_html: Type.String(),
  text_color: Type.String(),
  color: Type.String(),
  archived: Type.Boolean(),
});
export type LabelBasicRecord = Static<typeof LabelBasicRecord>;

/** A label in a list of others' records: its name, or with `with_labels_details` the record. */
export const LabelOrName = Type.Unsafe<string | LabelBasicRecord>({
  ...LabelBasicRecord,
  type: ['string', 'object'],
});

export const presentLabelBasic = (row: LabelBasicRow): LabelBasicRecord => ({
  id: row.id,
  name: row.name,
  description: row.description,
  description_html: escapeHtml(row.description ?? ''),
  text_color: textColor(row.color),
  color: row.color,
  archived: row.archived,
});

/**
 * A label's description is one line of text, not Markdown: its HTML is the escaped text. replaceAll() takes four times as
 * long where every letter is replaced.
 */
const escapeHtml = (text: string): string =>
  text.split('&').join('&amp;').split('<').join('&lt;').split('>').join('&gt;').split('"').join('&quot;');

/** Above this sum of red, green and blue a colour is light. */
const LIGHT = 500;

/** The text colour on the background `#rrggbb`. */
export function textColor(color: string): string {
  const sum = [1, 3, 5].reduce((total, at) => total + Number.parseInt(color.slice(at, at + 2), 16), 0);
  return sum > LIGHT ? '#1F1E24' : '#FFFFFF';
}

/** `#rrggbb` of `#rrggbb`, `#rgb` or the name of a CSS colour; 400 under `color` for anything else. */
export function colorCode(text: string): string {
  const color = text.trim();
  if (/^#[\da-f]{6}$/i.test(color)) return color;
  if (/^#[\da-f]{3}$/i.test(color)) return color.replace(/[\da-f]/gi, '$&$&');
  const named = namedColors.get(color.toLowerCase());
  if (named === undefined) throw invalid({ color: ['must be a valid color code'] });
  return named;
}

/** A label with the issues or epics that have it, and its place among the labels of all of them. */
export type LabelOfTargets = LabelBasicRow & { target_ids: number[]; place: number };

/** The labels of each issue or epic, by name. */
export function labelsByTarget(labels: readonly LabelOfTargets[]): Map<number, LabelBasicRow[]> {
  const byTarget = new Map<number, LabelBasicRow[]>();
  for (const { target_ids, place: _, ...label } of labels.toSorted((one, other) => one.place - other.place)) {
    for (const id of target_ids) {
      const known = byTarget.get(id);
      if (known) known.push(label);
      else byTarget.set(id, [label]);
    }
  }
  return byTarget;
}
