import { expect, test } from 'vitest';
import { DocumentError } from '../../../platform/documents/xml.ts';
import { readCoverage } from './coverage-report.ts';

/** Each line in a text, in their order. */
async function read(report: string): Promise<string[]> {
  const lines: string[] = [];
  await readCoverage(report, (file, line, covered) => lines.push(`${file}:${line} ${covered ? '+' : '-'}`));
  return lines;
}
const cobertura = (classes: string) =>
  `<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage line-rate="0.5"><sources><source>/builds/a</source></sources><packages><package name="p"><classes>${classes}</classes></package></packages></coverage>`;
const jacoco = (files: string, name = 'org/stones') =>
  `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report name="r"><sessioninfo id="s" start="1" dump="2"/><package name="${name}">${files}<counter type="LINE" missed="1" covered="1"/></package></report>`;

test.each<[what: string, report: string, lines: string[]]>([
  ['nothing', '', []],
  ['a report without files', cobertura(''), []],
  [
    'Cobertura',
    cobertura(
      '<class name="A" filename="src/a.ts"><methods><method name="m"><lines><line number="1" hits="3"/></lines></method></methods><lines><line number="1" hits="3"/><line number="2" hits="0" branch="false"/></lines></class>',
    ),
    ['src/a.ts:1 +', 'src/a.ts:1 +', 'src/a.ts:2 -'],
  ],
  [
    'JaCoCo',
    jacoco(
      '<class name="org/stones/A" sourcefilename="A.java"><method name="m" line="3"/></class><sourcefile name="A.java"><line nr="3" mi="0" ci="2" mb="0" cb="0"/><line nr="4" mi="2" ci="0"/><line nr="5" mi="0" ci="0"/></sourcefile>',
    ),
    ['org/stones/A.java:3 +', 'org/stones/A.java:4 -'],
  ],
  [
    'JaCoCo without a package',
    jacoco('<sourcefile name="A.java"><line nr="1" mi="0" ci="1"/></sourcefile>', ''),
    ['A.java:1 +'],
  ],
  [
    'one document after the other',
    `${cobertura('<class filename="a"><line number="1" hits="1"/></class>')}\n${cobertura('<class filename="b"><line number="1" hits="0"/></class>')}`,
    ['a:1 +', 'b:1 -'],
  ],
  [
    'lines that are none',
    cobertura(
      ['', '0', '-1', '1.5', 'x', '99999999', '1e99', 'NaN']
        .map((number) => `<class filename="a"><line number="${number}" hits="1"/></class>`)
        .join(''),
    ),
    [],
  ],
  [
    'hits that are none',
    cobertura(
      ['', '-1', 'x', 'Infinity']
        .map((hits) => `<class filename="a"><line number="1" hits="${hits}"/></class>`)
        .join(''),
    ),
    ['a:1 -', 'a:1 -', 'a:1 -', 'a:1 -'],
  ],
  [
    'a line of no file',
    cobertura('<class><line number="1" hits="1"/></class><line number="2" hits="1"/>'),
    [],
  ],
  [
    'names of the language',
    cobertura('<class filename="__proto__"><line number="1" hits="1" constructor="x"/></class>'),
    ['__proto__:1 +'],
  ],
  ['another format', '<testsuite><testcase name="n"/></testsuite>', []],
])('%s is read', async (_, report, lines) => expect(await read(report)).toEqual(lines));

test.each([
  ['what has no end', cobertura('').slice(0, -5)],
  ['what is no document', 'Lines: 81 %'],
  ['entities', '<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><c>&b;</c>'],
  ['a file of the server', '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/passwd">]><c>&a;</c>'],
  ['what is very deep', '<package>'.repeat(100_000)],
  [
    'very many attributes',
    `<line ${Array.from({ length: 100_000 }, (_, index) => `a${index}=""`).join(' ')}/>`,
  ],
  ['a tag in a tag', '<coverage <class filename="a"/>'],
  ['a name of bytes', '<coverage>\0</coverage>'],
])('%s is refused', (_, report) => expect(read(report)).rejects.toThrow(DocumentError));
