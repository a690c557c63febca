/** What jobs say of each other must fit: stages, needs, dependencies, environments (facts-ci: 2.8). Pure. */
import { type Path, type Problem, problemAt } from '../reading/problem.ts';
import { type Hash, isHash, nestedItems, type Value } from '../reading/value.ts';
import { flatRules } from '../validation/rules.ts';
import type { BaseJob, PipelineConfig } from './config.ts';
import { baseNames, baseNeeds, expandNeed, placesOfNeeds } from './needs.ts';

/** Of a configuration whose every part is right by itself. */
export function logicProblems(config: PipelineConfig, mostNeeds: number): Problem[] {
  const problems: Problem[] = [];
  const places = new Map(config.stages.map((stage, index) => [stage, index]));
  const bases = baseNames(config);
  const placeOf = (name: string): number => {
    const base = config.jobs.get(bases.get(name) ?? '');
    return (base && places.get(base.stage)) ?? -1;
  };
  for (const job of config.jobs.values()) {
    const { name, stage, keywords } = job;
    const report = (message: string, ...at: Path) => problems.push(problemAt(message, name, ...at));
    const place = places.get(stage);
    if (place === undefined) {
      const stages = config.stages.join(', ');
      report(`${name} job: chosen stage ${stage} does not exist; available stages are ${stages}`, 'stage');
      continue;
    }
    const dependencies = keywords.get('dependencies');
    for (const [i, each] of (Array.isArray(dependencies) ? dependencies.map(String) : []).entries()) {
      if (!bases.has(each)) report(`${name} job: undefined dependency: ${each}`, 'dependencies', i);
      else if (placeOf(each) > place)
        report(
          `${name} job: dependency ${each} is not defined in current or prior stages`,
          'dependencies',
          i,
        );
    }
    for (const [needs, at] of needsLists(keywords)) {
      const seen = new Set<string>();
      const repeated = new Set<string>();
      let placesInList: ReturnType<typeof placesOfNeeds> | undefined;
      const placeOfNeed = (need: string): Path => {
        placesInList ??= placesOfNeeds(needs);
        return [...at, ...(placesInList.get(need) ?? [])];
      };
      for (const need of baseNeeds(needs)) {
        const selected = expandNeed(config, bases, need);
        if (selected.length === 0) {
          if (!need.optional) report(`${name} job: undefined need: ${need.name}`, ...placeOfNeed(need.name));
        } else if (placeOf(need.name) > place)
          report(
            `${name} job: need ${need.name} is not defined in current or prior stages`,
            ...placeOfNeed(need.name),
          );
        if (seen.size > mostNeeds) break;
        for (const each of selected) (seen.has(each.name) ? repeated : seen).add(each.name);
      }
      if (repeated.size > 0)
        report(`${name} has the following needs duplicated: ${[...repeated].join(', ')}.`, ...at);
    }
    const problem = stopProblem(job, config);
    if (problem) report(problem, 'environment', 'on_stop');
  }
  const circle = problems.length === 0 ? circleProblem(needsByBase(config, bases)) : undefined;
  return circle ? [circle] : problems;
}

/** Parallel jobs of one name are one. */
const needsByBase = ({ jobs }: PipelineConfig, bases: ReadonlyMap<string, string>) =>
  new Map(
    Array.from(jobs.values(), ({ name, keywords }) => [
      name,
      baseNeeds(keywords.get('needs')).flatMap((need) => bases.get(need.name) ?? []),
    ]),
  );

/** Of the job, and of rules that replace them, with their place in the job. */
function needsLists(keywords: Hash): [needs: Value | undefined, at: Path][] {
  const own: [Value | undefined, Path] = [keywords.get('needs'), ['needs']];
  const rules = keywords.get('rules');
  const replaces = (rule: Value) => isHash(rule) && rule.has('needs');
  if (!Array.isArray(rules) || !flatRules(rules)?.some(replaces)) return [own];
  const ofRules = Array.from(nestedItems(rules), ([rule, at]): [Value | undefined, Path] => [
    isHash(rule) ? rule.get('needs') : undefined,
    ['rules', ...at, 'needs'],
  ]);
  return [own, ...ofRules];
}

/** What is wrong with needs that lead back to a job; undefined for good ones. `jobOf` says where a job stands. */
export function circleProblem(
  needs: ReadonlyMap<string, readonly string[]>,
  jobOf: (name: string) => string = (name) => name,
): Problem | undefined {
  const circle = circleOf(needs);
  return (
    circle && problemAt(`The pipeline has circular dependencies: ${circle.text}`, jobOf(circle.job), 'needs')
  );
}

function circleOf(needs: ReadonlyMap<string, readonly string[]>): { text: string; job: string } | undefined {
  const finished = new Set<string>();
  for (const start of needs.keys()) {
    if (finished.has(start)) continue;
    // By hand, since a chain of needs may be longer than calls can be nested.
    const path = [{ name: start, next: 0 }];
    const onPath = new Set([start]);
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const need = needs.get(step.name)?.[step.next];
      step.next += 1;
      if (need === undefined) {
        finished.add(step.name);
        onPath.delete(step.name);
        path.pop();
      } else if (need === step.name) return { text: `self-dependency: ${need}`, job: need };
      else if (onPath.has(need)) {
        const names = path.map(({ name }) => name);
        const circle = names.slice(names.indexOf(need)).map((name) => `"${name}"`);
        return { text: `topological sort failed: [${circle.join(', ')}]`, job: step.name };
      } else if (!finished.has(need)) {
        path.push({ name: need, next: 0 });
        onPath.add(need);
      }
    }
  }
  return undefined;
}

const environmentOf = (job: BaseJob): Hash | undefined => {
  const environment = job.keywords.get('environment');
  if (typeof environment === 'string') return new Map([['name', environment]]);
  return isHash(environment) ? environment : undefined;
};

function stopProblem(job: BaseJob, { jobs }: PipelineConfig): string | undefined {
  const environment = environmentOf(job);
  const stop = environment?.get('on_stop');
  if (typeof stop !== 'string') return undefined;
  const stopJob = jobs.get(stop);
  const stopped = stopJob && environmentOf(stopJob);
  const problem = (words: string) => `${job.name} job: on_stop job ${stop} ${words}`;
  if (!stopJob) return problem('is not defined');
  if (!stopped) return problem('does not have environment defined');
  if (stopped.get('name') !== environment?.get('name')) return problem('have different environment name');
  return stopped.get('action') === 'stop' ? undefined : problem('needs to have action stop defined');
}
