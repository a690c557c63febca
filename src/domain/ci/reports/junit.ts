/**
 * Reads reports of tests in the format of JUnit (facts for CI: JUnit). Pure. No entity that a document declares is expanded, and one
 * that is not well-formed is refused.
 */
import { SaxesParser } from 'saxes';
import { takeTurns } from '../../../platform/turns.ts';

export type CaseStatus = 'success' | 'failed' | 'skipped' | 'error';

export type TestCase = {
  status: CaseStatus;
  name: string;
  classname: string;
  file: string | null;
  /** Seconds. */
  execution_time: number;
  system_output: string | null;
};

/** A report that is none: the message says where. */
export class JunitError extends Error {}

const statusOf: Readonly<Record<string, CaseStatus>> = {
  failure: 'failed',
  error: 'error',
  skipped: 'skipped',
};
/** Of several words about a case the first here counts. */
const order: readonly CaseStatus[] = ['failed', 'error', 'skipped', 'success'];
/** Characters that are parsed in one go. */
const PIECE_LENGTH = 65_536;

type OpenCase = TestCase & { outputs: Partial<Record<CaseStatus, { text: string; message: string }>> };

function closed({ outputs, ...test }: OpenCase): TestCase {
  const status = order.find((each) => outputs[each] !== undefined) ?? 'success';
  const { text = '', message = '' } = outputs[status] ?? {};
  return { ...test, status, system_output: (text.trim() === '' ? message : text) || null };
}

/** A parser of the document that begins there, whose cases go to `add`; `end` is set when its root is closed. */
function openDocument(add: (test: TestCase) => void): { parser: SaxesParser; end(): number | undefined } {
  const parser = new SaxesParser();
  let depth = 0;
  let end: number | undefined;
  let test: OpenCase | undefined;
  let output: { text: string; message: string } | undefined;
  parser.on('error', (error) => {
    // What follows a document is another one.
    if (end === undefined || parser.position === end) throw new JunitError(error.message);
  });
  parser.on('doctype', (text) => {
    if (/<!ENTITY/i.test(text)) throw new JunitError('entities are not allowed');
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (end !== undefined) return;
    depth += 1;
    if (name === 'testcase') {
      const seconds = Number((attributes.time ?? '').replaceAll(',', ''));
      test = {
        status: 'success',
        name: attributes.name ?? '',
        classname: attributes.classname ?? '',
        file: attributes.file ?? null,
        execution_time: Number.isFinite(seconds) ? seconds : 0,
        system_output: null,
        outputs: {},
      };
    }
    const status = Object.hasOwn(statusOf, name) ? statusOf[name] : undefined;
    if (!test || !status) return;
    output = { text: '', message: attributes.message ?? '' };
    test.outputs[status] ??= output;
  });
  const take = (text: string): void => {
    if (output) output.text += text;
  };
  parser.on('text', take);
  parser.on('cdata', take);
  parser.on('closetag', ({ name }) => {
    if (end !== undefined) return;
    depth -= 1;
    if (Object.hasOwn(statusOf, name)) output = undefined;
    if (name === 'testcase' && test) {
      add(closed(test));
      test = undefined;
    }
    if (depth === 0) end = parser.position;
  });
  return { parser, end: () => end };
}

/** The cases of a report: one document after the other, as runners pack several files. Throws JunitError. */
export async function readJunit(report: string, add: (test: TestCase) => void): Promise<void> {
  const turn = takeTurns();
  let at = 0;
  while (at < report.length) {
    // A declaration stands at the very beginning.
    at += /^[\s\uFEFF]*/.exec(report.slice(at, at + PIECE_LENGTH))?.[0].length ?? 0;
    if (at >= report.length) return;
    const { parser, end } = openDocument(add);
    for (let from = at; from < report.length && end() === undefined; from += PIECE_LENGTH) {
      parser.write(report.slice(from, from + PIECE_LENGTH));
      await turn();
    }
    const length = end();
    if (length === undefined) {
      parser.close();
      throw new JunitError('the document has no end');
    }
    at += length;
  }
}
