/**
 * Configuration files and what they come to: `src/domain/ci/file/cases/*.txt`, one below the other. A case is a title after `#`,
 * lines of `@` that say what the pipeline is, the file, other files below `>>> path`, and after `=>` the jobs or errors.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type ConfigurationCase = {
  title: string;
  context: string[];
  text: string;
  others: Map<string, string>;
  expected: string[];
};

function parseCase(block: string): ConfigurationCase {
  const [title = '', ...lines] = block.split('\n');
  const others = new Map<string, string>();
  const found: ConfigurationCase = { title, context: [], text: '', others, expected: [] };
  let other: string | undefined;
  for (const line of lines) {
    if (line.startsWith('=> ')) found.expected.push(line.slice(3));
    else if (line.startsWith('@ ')) found.context.push(line.slice(2));
    else if (line.startsWith('>>> ')) {
      other = line.slice(4);
      others.set(other, '');
    } else if (other !== undefined) others.set(other, `${others.get(other)}${line}\n`);
    else found.text += `${line}\n`;
  }
  return found;
}

const folder = join(import.meta.dirname, '..', '..', 'src', 'domain', 'ci', 'file', 'cases');

/** The files of cases, each by its path and name. */
export const configurationCases = globSync('*.txt', { cwd: folder })
  .sort()
  .map((name) => {
    const path = join(folder, name);
    return { name, path, cases: readFileSync(path, 'utf8').split(/^# /m).slice(1).map(parseCase) };
  });
