/** Reads reports of tests in the format of JUnit (facts for CI: JUnit). Pure. */

import { type DocumentReader, readDocuments } from '../../../platform/documents/xml.ts';
import { isArchivePath } from '../artifacts/rules.ts';

export type CaseStatus = 'success' | 'failed' | 'skipped' | 'error';

export type TestCase = {
  status: CaseStatus;
  name: string;
  classname: string;
  file: string | null;
  /** Seconds. */
  execution_time: number;
  system_output: string | null;
  /** The path of a file in the archive of the job that shows the failure. */
  attachment: string | null;
};

const statusOf: Readonly<Record<string, CaseStatus>> = {
  failure: 'failed',
  error: 'error',
  skipped: 'skipped',
};
/** Of several words about a case the first here counts. */
const order: readonly CaseStatus[] = ['failed', 'error', 'skipped', 'success'];

type OpenCase = TestCase & {
  outputs: Partial<Record<CaseStatus, { text: string; message: string }>>;
  printed: string;
};

/** Characters of what a case prints that are looked at. */
const MAX_PRINTED = 1_048_576;
/** A path has no `|`: else each of many marks without an end would be read on from. */
const attachmentMark = /\[\[ATTACHMENT\|([^\]|]{1,1024})\]\]/;

function closed({ outputs, printed, ...test }: OpenCase): TestCase {
  const status = order.find((each) => outputs[each] !== undefined) ?? 'success';
  const { text = '', message = '' } = outputs[status] ?? {};
  const isShown = status === 'failed' || status === 'error';
  const [, path = ''] = (isShown && attachmentMark.exec(printed)) || [];
  return {
    ...test,
    status,
    system_output: (text.trim() === '' ? message : text) || null,
    attachment: isArchivePath(path) ? path : null,
  };
}

/** A reader of one document, whose cases go to `add`. */
function caseReader(add: (test: TestCase) => void): DocumentReader {
  let test: OpenCase | undefined;
  let output: { text: string; message: string } | undefined;
  let isPrinted = false;
  return {
    open(name, attributes) {
      if (name === 'testcase') {
        const seconds = Number((attributes.time ?? '').replaceAll(',', ''));
        test = {
          status: 'success',
          name: attributes.name ?? '',
          classname: attributes.classname ?? '',
          file: attributes.file ?? null,
          execution_time: Number.isFinite(seconds) ? seconds : 0,
          system_output: null,
          attachment: null,
          outputs: {},
          printed: '',
        };
      }
      isPrinted = name === 'system-out';
      const status = Object.hasOwn(statusOf, name) ? statusOf[name] : undefined;
      if (!test || !status) return;
      output = { text: '', message: attributes.message ?? '' };
      test.outputs[status] ??= output;
    },
    text(text) {
      if (output) output.text += text;
      else if (test && isPrinted) test.printed += text.slice(0, MAX_PRINTED - test.printed.length);
    },
    close(name) {
      isPrinted = false;
      if (Object.hasOwn(statusOf, name)) output = undefined;
      if (name !== 'testcase' || !test) return;
      add(closed(test));
      test = undefined;
    },
  };
}

/** The cases of a report. Throws DocumentError. */
export const readJunit = (report: string, add: (test: TestCase) => void): Promise<void> =>
  readDocuments(report, () => caseReader(add));
