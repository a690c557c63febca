/** The suites of a pipeline's reports: one for each job, or for the jobs of a parallel one. */
import type { Needs } from '../../../kernel/services.ts';
import { DocumentError } from '../../../platform/documents/xml.ts';
import { groupName } from '../execution/rules.ts';
import { readJunit, type TestCase } from './junit.ts';
import type { ReportFile } from './queries.ts';
import { readReports } from './unpack.ts';

/** In all reports of a pipeline. */
const MAX_CASES = 100_000;

type CaseOfJob = TestCase & { jobId: number };
export type Suite = { name: string; jobIds: number[]; cases: CaseOfJob[]; error: string | null };

type Left = { cases: number };

/** Of cases of one class, name and file the last one of each status counts. */
const keyOf = ({ status, classname, name, file }: TestCase): string =>
  JSON.stringify([status, classname, name, file]);

async function readSuite(
  textOf: (sha256: Buffer) => Promise<string>,
  name: string,
  files: readonly ReportFile[],
  left: Left,
): Promise<Suite> {
  const cases = new Map<string, CaseOfJob>();
  const suite = { name, jobIds: files.map(({ id }) => id) };
  try {
    for (const { id: jobId, sha256 } of files)
      await readJunit(await textOf(sha256), (test) => {
        left.cases -= 1;
        if (left.cases < 0)
          throw new DocumentError('the reports of the pipeline have more than 100,000 cases');
        cases.set(keyOf(test), { ...test, jobId });
      });
    return { ...suite, cases: [...cases.values()], error: null };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { ...suite, cases: [], error: `JUnit XML parsing failed: ${error.message}` };
  }
}

/** A report that cannot be read has the reason instead of cases. */
export const readSuites = (
  services: Needs<'blobs'>,
  files: readonly ReportFile[],
  signal: AbortSignal,
): Promise<Suite[]> =>
  readReports(
    services,
    async (textOf) => {
      const left = { cases: MAX_CASES };
      const suites: Suite[] = [];
      for (const [name, of] of Map.groupBy(files, (file) => groupName(file.name)))
        suites.push(await readSuite(textOf, name, of, left));
      return suites;
    },
    signal,
  );
