/** Blocks `$[[ … ]]` of a file: taken out before it is read as YAML, which would trip over their brackets. Pure. */
import { isHash, toJson, type Value } from '../reading/value.ts';

const block = /\$\[\[(.*?)\]\]/g;

/** Of the private use area, so that a mark is a plain letter wherever it stands. */
const mark = /\ue000(\d{1,5})\ue001/g;
const wholeMark = /^\ue000(\d{1,5})\ue001$/;

const MAX_BLOCKS = 10_000;

export type MarkedText = { text: string; blocks: readonly string[] };

/** The text with a mark for each block; undefined for too many. */
export function markBlocks(text: string): MarkedText | undefined {
  const blocks: string[] = [];
  const marked = text.replace(block, (_, inside: string) => `\ue000${blocks.push(inside) - 1}\ue001`);
  return blocks.length > MAX_BLOCKS ? undefined : { text: marked, blocks };
}

/** The value with what its marks come to. A text that is one block alone takes the block's type. */
export function fillBlocks(value: Value, blocks: readonly string[], fill: (inside: string) => Value): Value {
  if (blocks.length === 0) return value;
  const filled = new Map<object, Value>();

  const fillText = (text: string): string =>
    text.replace(mark, (whole, index: string) => {
      const inside = blocks[Number(index)];
      return inside === undefined ? whole : textOf(fill(inside));
    });

  const fillValue = (each: Value): Value => {
    if (typeof each === 'string') {
      const inside = blocks[Number(wholeMark.exec(each)?.[1] ?? Number.NaN)];
      return inside === undefined ? fillText(each) : fill(inside);
    }
    if (typeof each !== 'object' || each === null) return each;
    const known = filled.get(each);
    if (known !== undefined) return known;
    let result: Value = each;
    if (Array.isArray(each)) result = each.map(fillValue);
    else if (isHash(each))
      result = new Map(Array.from(each, ([key, item]) => [fillText(key), fillValue(item)]));
    filled.set(each, result);
    return result;
  };

  return fillValue(value);
}

/** The blocks as they were, where the file has no inputs. */
export const restoreBlocks = (value: Value, blocks: readonly string[]): Value =>
  fillBlocks(value, blocks, (inside) => `$[[${inside}]]`);

const textOf = (value: Value): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(toJson(value)) : String(value ?? '');
