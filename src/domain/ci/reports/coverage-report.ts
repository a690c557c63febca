/** Reads reports of coverage in the formats of Cobertura and JaCoCo (facts for CI: Report types). Pure. */
import { type DocumentReader, readDocuments } from '../../../platform/documents/xml.ts';

/** Whether a line of a file was run, of those that can be. */
type AddLine = (file: string, line: number, covered: boolean) => void;

/** No file has more lines than this. */
const MAX_LINE = 10_000_000;

const countOf = (text: string | undefined): number => {
  const count = Number(text);
  return Number.isFinite(count) ? count : 0;
};

/** A reader of one document; what is not understood is passed over, as both formats grow. */
function lineReader(add: AddLine): DocumentReader {
  let folder = '';
  let file: string | undefined;
  return {
    open(name, attributes) {
      // Of JaCoCo a package is the folder of its files; Cobertura's has their paths.
      if (name === 'package') folder = attributes.name ?? '';
      else if (name === 'class') file = attributes.filename;
      else if (name === 'sourcefile') file = [folder, attributes.name].filter(Boolean).join('/');
      else if (name === 'line' && file) {
        const line = countOf(attributes.number ?? attributes.nr);
        const covered = countOf(attributes.hits ?? attributes.ci) > 0;
        // A line without instructions cannot be covered.
        const counts = covered || attributes.hits !== undefined || countOf(attributes.mi) > 0;
        if (counts && Number.isInteger(line) && line >= 1 && line <= MAX_LINE) add(file, line, covered);
      }
    },
    close(name) {
      if (name === 'class' || name === 'sourcefile') file = undefined;
    },
  };
}

/** The lines of a report, some of them more than once. Throws DocumentError. */
export const readCoverage = (report: string, add: AddLine): Promise<void> =>
  readDocuments(report, () => lineReader(add));
