import { describe, expect, test } from 'vitest';
import { DocumentError } from '../../../platform/documents/xml.ts';
import { readJunit, type TestCase } from './junit.ts';

async function read(report: string): Promise<TestCase[]> {
  const cases: TestCase[] = [];
  await readJunit(report, (each) => cases.push(each));
  return cases;
}
/** Each case in a line. */
const lines = async (report: string): Promise<string[]> =>
  (await read(report)).map((each) =>
    [each.status, each.classname, each.name, each.file, each.execution_time, each.system_output].join('|'),
  );

test.each<[string, string, string[]]>([
  ['nothing', '', []],
  ['an empty suite', '<testsuites/>', []],
  [
    'a case',
    '<testsuite><testcase classname="C" name="n" file="f" time="1.5"/></testsuite>',
    ['success|C|n|f|1.5|'],
  ],
  ['a case that says little', '<testsuite><testcase/></testsuite>', ['success||||0|']],
  ['thousands', '<testsuite><testcase time="1,234.5"/></testsuite>', ['success||||1234.5|']],
  [
    'a failure',
    '<s><testcase name="n"><failure message="m" type="t">text &lt;1&gt;</failure></testcase></s>',
    ['failed||n||0|text <1>'],
  ],
  ['a message alone', '<s><testcase name="n"><failure message="m"/></testcase></s>', ['failed||n||0|m']],
  [
    'an error',
    '<s><testcase name="n"><error><![CDATA[<?xml a]]></error></testcase></s>',
    ['error||n||0|<?xml a'],
  ],
  ['a skipped one', '<s><testcase name="n"><skipped/></testcase></s>', ['skipped||n||0|']],
  [
    'a failure before an error',
    '<s><testcase><error>e</error><failure>f</failure></testcase></s>',
    ['failed||||0|f'],
  ],
  [
    'what is around',
    '<s><system-out>x</system-out><testcase><system-out>y</system-out></testcase></s>',
    ['success||||0|'],
  ],
  [
    'nested suites',
    '<testsuites><testsuite><testsuite><testcase name="n"/></testsuite></testsuite></testsuites>',
    ['success||n||0|'],
  ],
  [
    'one document after the other',
    '\uFEFF<?xml version="1.0"?>\r\n<s><testcase name="ä"/></s>\n<?xml version="1.0"?><!-- c --><s><testcase name="😀"/></s><s><testcase name="c"/></s>\n',
    ['success||ä||0|', 'success||😀||0|', 'success||c||0|'],
  ],
  [
    'a name of the language',
    '<s><testcase name="__proto__" classname="constructor"/><constructor/></s>',
    ['success|constructor|__proto__||0|'],
  ],
])('%s is read', async (_, report, cases) => expect(await lines(report)).toEqual(cases));

test.each([
  ['<failure/><system-out>a [[ATTACHMENT|shots/a b.png]] [[ATTACHMENT|c]]</system-out>', 'shots/a b.png'],
  ['<system-out><![CDATA[[[ATTACHMENT|a]]]]></system-out><error>e</error>', 'a'],
  ['<failure/><system-out>[[ATTACHMENT|[[ATTACHMENT|a]]</system-out>', 'a'],
  ['<failure>[[ATTACHMENT|a]]</failure>', null],
  ['<system-out>[[ATTACHMENT|a]]</system-out>', null],
  ['<skipped/><system-out>[[ATTACHMENT|a]]</system-out>', null],
  ...['../a', '/a', 'a/', '', 'x'.repeat(1_025)].map((path): [string, null] => [
    `<failure/><system-out>[[ATTACHMENT|${path}]]</system-out>`,
    null,
  ]),
])('of %s the attachment is %j', async (inside, path) =>
  expect((await read(`<s><testcase>${inside}</testcase></s>`)).map(({ attachment }) => attachment)).toEqual([
    path,
  ]),
);

test('of what a case prints a million characters are looked at for its attachment', async () => {
  const report = (printed: string) =>
    `<s><testcase><failure/><system-out>${printed}[[ATTACHMENT|a]]</system-out></testcase></s>`;
  const attachments = async (printed: string) =>
    (await read(report(printed))).map(({ attachment }) => attachment);
  expect(await attachments('[[ATTACHMENT|'.repeat(80_000))).toEqual(['a']);
  expect(await attachments('x'.repeat(1_048_576))).toEqual([null]);
});

test('documents that are longer than a piece are read whole', async () => {
  const long = `<s><testcase name="n"><failure>${'ab\r\n😀'.repeat(60_000)}</failure></testcase></s>`;
  const cases = await read(`${long}\r\n<?xml version="1.0"?>${long}<s><testcase name="last"/></s>`);
  expect(cases.map(({ name, system_output }) => [name, system_output?.length])).toEqual([
    ['n', 300_000],
    ['n', 300_000],
    ['last', undefined],
  ]);
});

test('thousands of small documents are read, each by itself', async () => {
  const cases = await read('<testcase name="n"/>\n<!-- c -->'.repeat(9_999).concat('<s/>'));
  expect(cases).toHaveLength(9_999);
});

describe('what is refused', () => {
  test.each([
    ['what is open', '<s><testcase>', 'unclosed tag'],
    ['what does not match', '<s></t>', 'unexpected close tag'],
    ['what is no document', 'Tests passed', 'outside of root node'],
    ['what follows', '<s/>Tests passed', 'outside of root node'],
    ['what closes by another name, and goes on', '<s></t><s/>', 'unexpected close tag'],
    ['very many documents', '<a/>'.repeat(10_001), 'there are more than 10000 documents'],
    ['what is very deep', '<a>'.repeat(1_001), 'elements are more than 1000 deep'],
    [
      'very many attributes',
      `<s ${Array.from({ length: 1_001 }, (_, index) => `a${index}=""`).join(' ')}/>`,
      'an element has more than 1000 attributes',
    ],
    ['an unknown entity', '<s>&stone;</s>', 'undefined entity'],
    [
      'a bomb of entities',
      '<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><s>&b;</s>',
      'entities are not allowed',
    ],
    [
      'a file of the server',
      '<!DOCTYPE s [<!ENTITY a SYSTEM "file:///etc/passwd">]><s>&a;</s>',
      'entities are not allowed',
    ],
  ])('%s', async (_, report, message) => {
    const reading = read(report);
    await expect(reading).rejects.toThrow(DocumentError);
    await expect(reading).rejects.toThrow(message);
  });
});
