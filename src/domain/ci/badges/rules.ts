/** Badges of pipelines and of coverage: what they say, in which colours, as SVG. Pure. */
import { html } from '../../../platform/http/pages/html.ts';
import type { Status } from '../processing/status.ts';

export type Badge = { key: string; value: string; colour: string; keyWidth: number; valueWidth: number };

const GREEN = '#4c1';
const RED = '#e05d44';
const YELLOW = '#dfb317';
const GREY = '#9f9f9f';

const statusColours: Partial<Record<Status, string>> = {
  success: GREEN,
  failed: RED,
  running: YELLOW,
  pending: YELLOW,
  preparing: '#a7a7a7',
};

export type Wishes = { key_text?: unknown; key_width?: unknown; style?: unknown };

const MAX_KEY_LENGTH = 64;
const MAX_KEY_WIDTH = 512;
const KEY_WIDTH = 62;

/** The words and the width that the address wants; what cannot be is passed over. */
function keyOf({ key_text: text, key_width: width }: Wishes, usual: string): Pick<Badge, 'key' | 'keyWidth'> {
  const pixels = Number(width);
  return {
    key: typeof text === 'string' && text !== '' && text.length <= MAX_KEY_LENGTH ? text : usual,
    keyWidth: Number.isInteger(pixels) && pixels > 0 && pixels < MAX_KEY_WIDTH ? pixels : KEY_WIDTH,
  };
}

/** Undefined where the branch or tag has no pipeline. */
export const pipelineBadge = (status: Status | undefined, wishes: Wishes): Badge => ({
  ...keyOf(wishes, 'pipeline'),
  value: status === 'success' ? 'passed' : (status ?? 'unknown').replaceAll('_', ' '),
  colour: (status && statusColours[status]) ?? GREY,
  valueWidth: status === 'waiting_for_resource' || status === 'waiting_for_callback' ? 124 : 54,
});

type Limits = { min_good?: unknown; min_acceptable?: unknown; min_medium?: unknown };

/** From the best to the worst. */
const grades = [
  { name: 'min_good', usual: 95, colour: GREEN },
  { name: 'min_acceptable', usual: 90, colour: '#a3c51c' },
  { name: 'min_medium', usual: 75, colour: YELLOW },
] as const;

/** Percent; undefined where no job tells of it. */
export function coverageBadge(coverage: number | undefined, wishes: Wishes & Limits): Badge {
  const key = keyOf(wishes, 'coverage');
  if (coverage === undefined) return { ...key, value: 'unknown', colour: GREY, valueWidth: 58 };
  const grade = grades.find(({ name, usual }) => {
    const given = Number(wishes[name] ?? usual);
    return coverage >= (given >= 0 && given <= 100 ? given : usual);
  });
  return { ...key, value: `${coverage.toFixed(2)}%`, colour: grade?.colour ?? RED, valueWidth: 54 };
}

const HEIGHT = 20;

/** The picture; `flat` has round corners, `flat-square` none. */
export function drawBadge({ key, value, colour, keyWidth, valueWidth }: Badge, style: unknown): string {
  const width = keyWidth + valueWidth;
  const radius = style === 'flat-square' ? 0 : 3;
  const text = (
    words: string,
    middle: number,
  ) => html`<text x="${middle}" y="15" fill="#010101" fill-opacity=".3">${words}</text
><text x="${middle}" y="14">${words}</text>`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img" aria-label="${key}: ${value}">
<title>${key}: ${value}</title>
<clipPath id="c"><rect width="${width}" height="${HEIGHT}" rx="${radius}"/></clipPath>
<g clip-path="url(#c)"><rect width="${keyWidth}" height="${HEIGHT}" fill="#555"/><rect x="${keyWidth}" width="${valueWidth}" height="${HEIGHT}" fill="${colour}"/></g>
<g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">${text(key, keyWidth / 2)}${text(value, keyWidth + valueWidth / 2)}</g>
</svg>
`.text;
}
