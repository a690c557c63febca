/** Values as Ruby writes them with Marshal, format 4.8. Pure. */

function integer(value: number): Buffer {
  if (value === 0) return Buffer.from([0]);
  if (value > 0 && value < 123) return Buffer.from([value + 5]);
  const bytes: number[] = [];
  for (let left = value; left > 0; left = Math.floor(left / 256)) bytes.push(left % 256);
  return Buffer.from([bytes.length, ...bytes]);
}

const sized = (type: string, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from(type), integer(content.length), content]);

export const symbol = (name: string): Buffer => sized(':', Buffer.from(name));
/** In UTF-8. */
export const text = (value: string): Buffer =>
  Buffer.concat([
    Buffer.from('I'),
    sized('"', Buffer.from(value)),
    integer(1),
    symbol('E'),
    Buffer.from('T'),
  ]);
export const nil: Buffer = Buffer.from('0');
export const yes: Buffer = Buffer.from('T');
export const no: Buffer = Buffer.from('F');
/** Zero or above. */
export const number = (value: number): Buffer => Buffer.concat([Buffer.from('i'), integer(value)]);
export const array = (items: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('['), integer(items.length), ...items]);
export const hash = (pairs: readonly (readonly [Buffer, Buffer])[]): Buffer =>
  Buffer.concat([Buffer.from('{'), integer(pairs.length), ...pairs.flat()]);
/** An object of a class with `marshal_load`. */
export const loaded = (name: string, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from('U'), symbol(name), value]);
/** An object of a class with `_load`. */
export const packed = (name: string, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from('u'), symbol(name), integer(content.length), content]);
export const object = (name: string, variables: Readonly<Record<string, Buffer>>): Buffer =>
  Buffer.concat([
    Buffer.from('o'),
    symbol(name),
    integer(Object.keys(variables).length),
    ...Object.entries(variables).flatMap(([each, value]) => [symbol(each), value]),
  ]);

/** A document of one value. */
export const dump = (value: Buffer): Buffer => Buffer.concat([Buffer.from([4, 8]), value]);
