/** A file is taken out of a JSON text, wherever the text is cut. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AttachmentScanner } from './attachment-scanner.ts';

function scan(pieces: readonly Buffer[]) {
  const scanner = new AttachmentScanner('.tgz');
  const scanned = pieces.map((piece) => scanner.push(piece));
  return {
    json: Buffer.concat(scanned.map(({ json }) => json)).toString(),
    data: Buffer.concat(scanned.map(({ data }) => data)),
  };
}

const bytewise = (text: string) => [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
const both = (text: string) => {
  const whole = scan([Buffer.from(text)]);
  expect(scan(bytewise(text))).toEqual(whole);
  return whole;
};

const body = (data: string, name = 'a-1.tgz') =>
  `{"name":"a","_attachments":{"${name}":{"length":3,"data":${data}}},"more":[{"data":"x"}]}`;

test.each([
  ['plain', body('"aGV5"'), 'hey'],
  ['empty', body('""'), ''],
  ['padded', body('"aGV5YQ=="'), 'heya'],
  ['escaped slashes', body('"\\/\\/\\/\\/"'), Buffer.from('////', 'base64').toString('latin1')],
  ['escaped letters', body('"\\u0061GV5"'), 'hey'],
  ['escaped names', body('"aGV5"').replace('"data"', '"d\\u0061ta"').replace('"_att', '"\\u005fatt'), 'hey'],
  ['white space', body('"aGV5"').replaceAll(':', ' :\n'), 'hey'],
])('%s', (_, text, expected) => {
  const { json, data } = both(text);
  expect(data.toString('latin1')).toBe(expected);
  const whole = JSON.parse(text);
  whole._attachments['a-1.tgz'].data = '';
  expect(JSON.parse(json)).toEqual(whole);
});

test.each([
  ['a name without the ending', body('"{}"', 'a-1.sigstore')],
  ['data that is no text', body('{"x":["aGV5"]}')],
  ['no object in attachments', '{"_attachments":{"a-1.tgz":["data","aGV5"]}}'],
  ['a list around it', '[{"a-1.tgz":{"data":"aGV5"}}]'],
  ['a list of attachments', '{"_attachments":[{"data":"aGV5"}]}'],
  ['too deep', '{"x":{"_attachments":{"a-1.tgz":{"data":"aGV5"}}}}'],
  ['behind a closed one', '{"_attachments":{"a-1.tgz":{}},"b":{"c":{"data":"aGV5"}}}'],
  ['a name as a value', '{"a":"_attachments","b":{"a-1.tgz":{"data":"aGV5"}}}'],
  ['a long name', `{"${'_'.repeat(5_000)}attachments":{"a-1.tgz":{"data":"aGV5"}}}`],
  ['nested deeply', `${'['.repeat(1_000)}${']'.repeat(1_000)}`],
  ['quotes in texts', '{"a\\"":"\\\\","_attachments\\\\":{"a.tgz":{"data":"aGV5\\""}}}'],
])('%s is passed on', (_, text) => {
  expect(both(text)).toEqual({ json: text, data: Buffer.alloc(0) });
});

test.each([
  ['a letter that is none of its', body('"aG-5"'), 'base64'],
  ['white space', body('"aGV5\\n"'), 'base64'],
  ['no end', body('"aGV5a"'), 'base64'],
  ['padding in the middle', body('"aGU=aGV5"'), 'base64'],
  ['padding alone', body('"===="'), 'base64'],
  ['an escape of nothing', body('"\\x"'), 'base64'],
  ['two files', body('"aGV5"}, "b-1.tgz":{"data":"aGV5"'), 'more than one'],
  ['the same name twice', body('"aGV5","data":"aGV5"'), 'more than one'],
])('%s is refused', (_, text, message) => {
  expect(() => scan([Buffer.from(text)])).toThrow(message);
  expect(() => scan(bytewise(text))).toThrow(message);
});

test('what breaks off is no JSON', () => {
  const text = body('"aGV5"');
  for (let length = 0; length < text.length; length++) {
    const cut = Buffer.from(text.slice(0, length));
    expect(() => JSON.parse(scan([cut]).json)).toThrow();
  }
});

/** The text with some letters of its strings escaped. */
const escaped = (text: string, every: number): string =>
  text.replace(/[A-Za-z/]/g, (letter, at: number) =>
    every > 0 && at % every === 0 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
  );

test('any JSON that is cut anywhere is what JSON.parse makes of it', () => {
  const names = fc.constantFrom('_attachments', 'data', 'a-1.tgz', 'b', '_attachments"', '\\');
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.string({ unit: 'binary' }),
      fc.constantFrom('data', '"', '\\', '_attachments'),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(names, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(
      tree,
      fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
      fc.nat(4),
      fc.array(fc.nat(2_000), { maxLength: 8 }),
      fc.constantFrom(0, 2),
      (around, bytes, every, cuts, indent) => {
        const data = bytes && Buffer.from(bytes);
        const without = (value: string) => ({
          before: around,
          _attachments: { 'b.sig': { data: '!' }, ...(data && { 'a-1.tgz': { x: around, data: value } }) },
          after: [around],
        });
        // Values that are not texts have no letters to escape but those of true, false and null.
        const mark = '\u0001mark';
        const text = JSON.stringify(without(mark), null, indent).replace(
          JSON.stringify(mark),
          () => `"${escaped(data?.toString('base64') ?? '', every)}"`,
        );
        const bytesOfText = Buffer.from(text);
        const at = [0, ...cuts.map((cut) => cut % (bytesOfText.length + 1)), bytesOfText.length].sort(
          (one, other) => one - other,
        );
        const pieces = at.slice(1).map((end, index) => bytesOfText.subarray(at[index], end));
        const scanned = scan(pieces);
        expect(JSON.parse(scanned.json)).toEqual(JSON.parse(JSON.stringify(without(''))));
        expect(scanned.data.equals(data ?? Buffer.alloc(0))).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});
