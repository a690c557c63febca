/** The suites of a pipeline's reports: one for each job, or for the jobs of a parallel one. */
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openFile } from '../../../kernel/files/stored-files.ts';
import type { Needs } from '../../../kernel/services.ts';
import { createShare } from '../../../platform/fair-share.ts';
import { artifactsFolder } from '../artifacts/files.ts';
import { groupName } from '../execution/rules.ts';
import { JunitError, readJunit, type TestCase } from './junit.ts';
import type { ReportFile } from './queries.ts';

/** Bytes of all reports of a pipeline, unpacked, and cases in them. */
const MAX_BYTES = 33_554_432;
const MAX_CASES = 100_000;

/** A report takes several times its size while it is read. */
const readings = createShare({
  of: 'test reports that are read',
  places: 2,
  perCaller: 1,
  waitingPerCaller: 10,
  waiting: 100,
  timeoutMs: 10_000,
});

export type Suite = { name: string; jobIds: number[]; cases: TestCase[]; error: string | null };

type Left = { bytes: number; cases: number };

/** The text of a packed report, as far as there is room for it. */
async function unpack(folder: string, secret: string, left: Left): Promise<string> {
  const file = await openFile(folder, secret);
  if (!file) throw new JunitError('the file is gone');
  const pieces: Buffer[] = [];
  await pipeline(file.stream(), createGunzip(), async (unpacked: AsyncIterable<Buffer>) => {
    for await (const piece of unpacked) {
      left.bytes -= piece.length;
      if (left.bytes < 0) throw new JunitError('the reports of the pipeline are larger than 32 MiB');
      pieces.push(piece);
    }
  }).catch((error: unknown) => {
    const { code } = error as { code?: unknown };
    throw typeof code === 'string' && code.startsWith('Z_')
      ? new JunitError('the file is not packed by gzip')
      : error;
  });
  return Buffer.concat(pieces).toString('utf8');
}

/** Of cases of one class, name and file the last one of each status counts. */
const keyOf = ({ status, classname, name, file }: TestCase): string =>
  JSON.stringify([status, classname, name, file]);

async function readSuite(
  folder: string,
  name: string,
  files: readonly ReportFile[],
  left: Left,
): Promise<Suite> {
  const cases = new Map<string, TestCase>();
  const suite = { name, jobIds: files.map(({ id }) => id) };
  try {
    for (const { secret } of files)
      await readJunit(await unpack(folder, secret, left), (test) => {
        left.cases -= 1;
        if (left.cases < 0) throw new JunitError('the reports of the pipeline have more than 100,000 cases');
        cases.set(keyOf(test), test);
      });
    return { ...suite, cases: [...cases.values()], error: null };
  } catch (error) {
    if (!(error instanceof JunitError)) throw error;
    return { ...suite, cases: [], error: `JUnit XML parsing failed: ${error.message}` };
  }
}

/** A report that cannot be read has the reason instead of cases. */
export const readSuites = ({ config }: Needs<'config'>, files: readonly ReportFile[]): Promise<Suite[]> =>
  readings.run(async () => {
    const left = { bytes: MAX_BYTES, cases: MAX_CASES };
    const suites: Suite[] = [];
    for (const [name, of] of Map.groupBy(files, (file) => groupName(file.name)))
      suites.push(await readSuite(artifactsFolder(config.data), name, of, left));
    return suites;
  });
