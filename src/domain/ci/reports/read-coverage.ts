/** How much of each file the tests of a pipeline run, by the reports of its jobs together. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { DocumentError } from '../../../platform/documents/xml.ts';
import { mapInTurns } from '../../../platform/turns.ts';
import { mayDownload } from '../jobs/rules.ts';
import { readCoverage } from './coverage-report.ts';
import { type ReportFile, selectReports } from './queries.ts';
import { readReports } from './unpack.ts';

/** In all reports of a pipeline: each takes a hundred bytes. */
const MAX_LINES = 1_000_000;
const MAX_FILES = 50_000;

export type FileCoverage = { path: string; lines: number; covered: number };

/** Files by their paths, and the jobs whose reports cannot be read, with the reasons. */
export type Coverage = { files: FileCoverage[]; problems: { job: string; message: string }[] };

/** The reports of coverage that the caller may read: they name the files of the project. */
export async function selectCoverageReports(
  db: Db,
  project: Pick<AuthorizedProject, 'may'>,
  pipeline: { id: number },
  keepLatest: boolean,
): Promise<ReportFile[]> {
  if (!project.may('read_code')) return [];
  const files = await selectReports(db, pipeline, ['cobertura', 'jacoco'], keepLatest);
  return files.filter(({ access }) => mayDownload(project, access));
}

/** A line that one of the reports has as run counts as run. */
export const readPipelineCoverage = (
  services: Needs<'blobs'>,
  reports: readonly ReportFile[],
  signal: AbortSignal,
): Promise<Coverage> =>
  readReports(
    services,
    async (textOf) => {
      const files = new Map<string, Map<number, boolean>>();
      const problems: Coverage['problems'] = [];
      let left = MAX_LINES;
      for (const { name, sha256 } of reports)
        try {
          await readCoverage(await textOf(sha256), (path, line, covered) => {
            const lines = files.get(path) ?? new Map<number, boolean>();
            if (lines.size === 0 && files.size >= MAX_FILES)
              throw new DocumentError('the reports of the pipeline have more than 50,000 files');
            files.set(path, lines);
            const known = lines.get(line);
            if (known === undefined && --left < 0)
              throw new DocumentError('the reports of the pipeline have more than 1,000,000 lines');
            if (!known) lines.set(line, covered);
          });
        } catch (error) {
          if (!(error instanceof DocumentError)) throw error;
          problems.push({ job: name, message: error.message });
        }
      return { files: await summed(files), problems };
    },
    signal,
  );

async function summed(files: ReadonlyMap<string, ReadonlyMap<number, boolean>>): Promise<FileCoverage[]> {
  const sums = await mapInTurns([...files], ([path, lines]) => ({
    path,
    lines: lines.size,
    covered: lines.values().reduce((count, covered) => count + Number(covered), 0),
  }));
  return sums.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}
