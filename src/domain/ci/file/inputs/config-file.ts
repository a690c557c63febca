/** One file, from its text to the configuration that it holds for its inputs. Pure. */

import { type Hash, isHash, type Value } from '../reading/value.ts';
import { readYaml } from '../reading/yaml.ts';
import type { RegexCompiler } from '../rules/regex.ts';
import { fillBlocks, markBlocks, restoreBlocks } from './blocks.ts';
import { type Interpolated, InterpolationProblem, interpolate } from './interpolation.ts';
import { inputValues, specProblems } from './spec.ts';

export type ConfigFile =
  | { kind: 'read'; config: Hash }
  /** It is no YAML, or no configuration. */
  | { kind: 'malformed'; problem: string }
  /** Its inputs are wrong. */
  | { kind: 'refused'; problems: string[] };

/** Of a component, what its blocks may name. */
export type ComponentFields = Readonly<Record<'name' | 'sha' | 'version' | 'reference', string>>;

/** More would hide what is wrong first. */
const MAX_PROBLEMS = 3;

export type ConfigRequest = {
  text: string;
  inputs: Value | undefined;
  component?: ComponentFields;
  variable: Interpolated['variable'];
  compile: RegexCompiler;
};

export async function readConfigFile({
  text,
  inputs,
  component,
  variable,
  compile,
}: ConfigRequest): Promise<ConfigFile> {
  const marked = markBlocks(text);
  if (!marked) return { kind: 'refused', problems: ['too many interpolation blocks'] };
  const read = await readYaml(marked.text);
  if ('problem' in read) return { kind: 'malformed', problem: read.problem };
  const [first, second] = read.documents;
  const hasHeader = isHash(first) && first.has('spec') && !(second === undefined && first.size > 1);
  const body = hasHeader ? second : (second ?? first);
  const config: Value = body ?? (hasHeader ? new Map() : null);
  if (!isHash(config)) return { kind: 'malformed', problem: 'Invalid configuration format' };

  const header = hasHeader ? (restoreBlocks(first, marked.blocks) as Hash).get('spec') : undefined;
  const spec = header === null ? new Map() : header;
  if (spec !== undefined) {
    const problems = specProblems(spec, compile);
    if (problems.length > 0) return { kind: 'refused', problems: problems.slice(0, MAX_PROBLEMS) };
  }
  if (inputs !== undefined && inputs !== null && !isHash(inputs))
    return { kind: 'refused', problems: ['Given inputs must be a hash'] };
  const given: Hash = isHash(inputs) ? inputs : new Map();
  if (!isHash(spec) || !(spec.has('inputs') || spec.has('component'))) {
    if (given.size > 0)
      return {
        kind: 'refused',
        problems: ['Given inputs not defined in the `spec` section of the included configuration file'],
      };
    return { kind: 'read', config: restoreBlocks(config, marked.blocks) as Hash };
  }

  const { values, problems } = inputValues(spec, given, compile);
  if (problems.length > 0) return { kind: 'refused', problems: problems.slice(0, MAX_PROBLEMS) };
  const wanted = spec.get('component');
  const fields = Object.entries(component ?? {}).filter(
    ([name]) => Array.isArray(wanted) && wanted.includes(name),
  );
  return filled(config, marked.blocks, { inputs: values, component: new Map(fields), variable });
}

function filled(config: Hash, blocks: readonly string[], names: Interpolated): ConfigFile {
  const problems = new Set<string>();
  const result = fillBlocks(config, blocks, (inside) => {
    try {
      return interpolate(inside, names);
    } catch (error) {
      if (!(error instanceof InterpolationProblem)) throw error;
      problems.add(error.message);
      return null;
    }
  });
  if (problems.size > 0) return { kind: 'refused', problems: [...problems].slice(0, MAX_PROBLEMS) };
  return { kind: 'read', config: result as Hash };
}
