/** One file, from its text to the configuration that it holds for its inputs. Pure. */

import { type FileProblem, type Problem, problemOf, type Source } from '../reading/problem.ts';
import { type Hash, isHash, type Value } from '../reading/value.ts';
import { readYaml } from '../reading/yaml.ts';
import type { RegexCompiler } from '../rules/regex.ts';
import { type Fill, fillBlocks, fillText, markBlocks, offsetOfBlock, restoreBlock } from './blocks.ts';
import { type Interpolated, InterpolationProblem, interpolate } from './interpolation.ts';
import { inputValues, specProblems } from './spec.ts';

export type ConfigFile =
  | { kind: 'read'; source: Source }
  /** It is no YAML, or no configuration; `offset` is where, if it is at one place. */
  | { kind: 'malformed'; problem: string; offset: number | undefined }
  /** Its header or its blocks are wrong, or the inputs that it is given. */
  | { kind: 'refused' | 'inputs_refused'; problem: Problem };

/** Of a component, what its blocks may name. */
export type ComponentFields = Readonly<Record<'name' | 'sha' | 'version' | 'reference', string>>;

/** More would hide what is wrong first. */
const MAX_PROBLEMS = 3;

export type ConfigRequest = {
  /** As messages have it; undefined for the file that includes the others. */
  name: string | undefined;
  text: string;
  inputs: Value | undefined;
  component?: ComponentFields;
  variable: Interpolated['variable'];
  compile: RegexCompiler;
  /** The inputs of `spec:include`, or why there are none. */
  includedInputs: (include: Value, header: Source) => Promise<Hash | Problem>;
};

const NOT_IN_COMPONENTS = 'cannot use `spec:include`. This keyword is not supported in components';

export async function readConfigFile({
  name,
  text,
  inputs,
  component,
  variable,
  compile,
  includedInputs,
}: ConfigRequest): Promise<ConfigFile> {
  const marked = markBlocks(text);
  if (!marked) return { kind: 'refused', problem: problemOf('too many interpolation blocks') };
  const { blocks } = marked;
  const read = await readYaml(marked.text);
  if ('problem' in read) return { kind: 'malformed', ...read };
  const [first, second] = read.documents;
  const hasHeader = isHash(first) && first.has('spec') && !(second === undefined && first.size > 1);
  const document = hasHeader || (second ?? null) !== null ? 1 : 0;
  const config: Value = read.documents[document] ?? (hasHeader ? new Map() : null);
  if (!isHash(config))
    return { kind: 'malformed', problem: 'Invalid configuration format', offset: undefined };

  const sourceOf = (of: number, value: Hash, fill: Fill): Source => ({
    name,
    text: marked.text,
    document: of,
    config: fillBlocks(value, blocks, fill) as Hash,
    keyOf: (key) => fillText(key, blocks, fill),
  });
  const header = hasHeader ? sourceOf(0, first, restoreBlock) : undefined;
  const given = header?.config.get('spec');
  let spec = given === null ? new Map() : given;
  if (spec !== undefined) {
    const problems = specProblems(spec, compile);
    if (problems.length > 0) return { kind: 'refused', problem: joined(problems, header) };
  }
  const include = isHash(spec) ? (spec.get('include') ?? null) : null;
  if (header && isHash(spec) && include !== null) {
    if (component) {
      const problem = { message: NOT_IN_COMPONENTS, at: ['spec', 'include'] };
      return { kind: 'refused', problem: joined([problem], header) };
    }
    const included = await includedInputs(include, header);
    if (!isHash(included)) return { kind: 'refused', problem: included };
    const own = spec.get('inputs');
    spec = new Map(spec).set('inputs', new Map([...included, ...(isHash(own) ? own : [])]));
  }
  const refusedInputs = (problem: string): ConfigFile => ({
    kind: 'inputs_refused',
    problem: problemOf(problem),
  });
  if (inputs !== undefined && inputs !== null && !isHash(inputs))
    return refusedInputs('Given inputs must be a hash');
  const values: Hash = isHash(inputs) ? inputs : new Map();
  if (!isHash(spec) || !(spec.has('inputs') || spec.has('component')))
    return values.size > 0
      ? refusedInputs('Given inputs not defined in the `spec` section of the included configuration file')
      : { kind: 'read', source: sourceOf(document, config, restoreBlock) };

  const taken = inputValues(spec, values, compile);
  if (taken.problems.length > 0) return { kind: 'inputs_refused', problem: joined(taken.problems, header) };
  const wanted = spec.get('component');
  const fields = Object.entries(component ?? {}).filter(
    ([field]) => Array.isArray(wanted) && wanted.includes(field),
  );
  const names = { inputs: taken.values, component: new Map(fields), variable };
  const problems = new Map<string, FileProblem>();
  const source = sourceOf(document, config, (inside, index) => {
    try {
      return interpolate(inside, names);
    } catch (error) {
      if (!(error instanceof InterpolationProblem)) throw error;
      const { message } = error;
      if (!problems.has(message) && problems.size < MAX_PROBLEMS)
        problems.set(message, { message, at: offsetOfBlock(marked.text, index) });
      return null;
    }
  });
  if (problems.size > 0) return { kind: 'refused', problem: joined([...problems.values()], source) };
  return { kind: 'read', source };
}

/** The first of them as one. */
function joined(problems: readonly FileProblem[], source: Source | undefined): Problem {
  const told = problems.slice(0, MAX_PROBLEMS);
  return {
    message: told.map(({ message }) => message).join(', '),
    spots: source ? told.map(({ at }) => ({ source, at })) : [],
  };
}
