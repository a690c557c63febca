/** Blocks `$[[ … ]]` of a file: taken out before it is read as YAML, which would trip over their brackets. Pure. */
import { isHash, toJson, type Value } from '../reading/value.ts';

const block = /\$\[\[(.*?)\]\]/g;

/** Of the private use area, so that a mark is a plain letter wherever it stands; as long as its block, so that places stay. */
const mark = /\ue000([\da-z]{1,3})\ue002*\ue001/g;
const wholeMark = /^\ue000([\da-z]{1,3})\ue002*\ue001$/;
/** The shortest block is as long as the mark of the last one. */
const RADIX = 36;
const markOf = (index: number, length: number): string =>
  `\ue000${index.toString(RADIX).padEnd(length - 2, '\ue002')}\ue001`;
const indexOf = (digits: string | undefined): number => Number.parseInt(digits ?? '', RADIX);

const MAX_BLOCKS = 10_000;

export type MarkedText = { text: string; blocks: readonly string[] };

/** Where a block stands. */
export const offsetOfBlock = (text: string, index: number): number =>
  [...text.matchAll(mark)].find(([, digits]) => indexOf(digits) === index)?.index ?? 0;

/** The text with a mark for each block; undefined for too many. */
export function markBlocks(text: string): MarkedText | undefined {
  const blocks: string[] = [];
  const marked = text.replace(block, (whole, inside: string) =>
    markOf(blocks.push(inside) - 1, whole.length),
  );
  return blocks.length > MAX_BLOCKS ? undefined : { text: marked, blocks };
}

/** What a block comes to: what is inside it, and which one it is. */
export type Fill = (inside: string, index: number) => Value;

/** The text with what its marks come to. */
export const fillText = (text: string, blocks: readonly string[], fill: Fill): string =>
  text.replace(mark, (whole, digits: string) => {
    const inside = blocks[indexOf(digits)];
    return inside === undefined ? whole : textOf(fill(inside, indexOf(digits)));
  });

/** The value with what its marks come to. A text that is one block alone takes the block's type. */
export function fillBlocks(value: Value, blocks: readonly string[], fill: Fill): Value {
  if (blocks.length === 0) return value;
  const filled = new Map<object, Value>();

  const fillValue = (each: Value): Value => {
    if (typeof each === 'string') {
      const index = indexOf(wholeMark.exec(each)?.[1]);
      const inside = blocks[index];
      return inside === undefined ? fillText(each, blocks, fill) : fill(inside, index);
    }
    if (typeof each !== 'object' || each === null) return each;
    const known = filled.get(each);
    if (known !== undefined) return known;
    let result: Value = each;
    if (Array.isArray(each)) result = each.map(fillValue);
    else if (isHash(each))
      result = new Map(Array.from(each, ([key, item]) => [fillText(key, blocks, fill), fillValue(item)]));
    filled.set(each, result);
    return result;
  };

  return fillValue(value);
}

/** A block as it was, where the file has no inputs. */
export const restoreBlock: Fill = (inside) => `$[[${inside}]]`;

const textOf = (value: Value): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(toJson(value)) : String(value ?? '');
