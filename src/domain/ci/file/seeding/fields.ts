/** Keywords of a job as records of the plan: lists are flat, what is missing has its default. Pure. */
import { durationSeconds } from '../duration.ts';
import { expandText } from '../expansion.ts';
import type {
  PlannedArtifacts,
  PlannedCache,
  PlannedEnvironment,
  PlannedImage,
  PlannedPages,
  PlannedRelease,
  PlannedRetry,
  PlannedService,
  PlannedTrigger,
} from '../plan.ts';
import { type Hash, isHash, toJson, type Value } from '../reading/value.ts';
import { needItems } from '../validation/needs.ts';
import { reportTypes } from '../validation/shared.ts';
import { textOf, yamlVariables } from './config.ts';

type Lookup = (name: string) => string | undefined;

const none: Hash = new Map();
export const hashIn = (value: Value | undefined): Hash => (isHash(value) ? value : none);

/** Texts of a list however it is nested; of one text that alone. */
export const textsIn = (value: Value | undefined): string[] =>
  value === undefined || value === null ? [] : ([value].flat(20) as Value[]).map(String);

const textsOrNull = (value: Value | undefined): string[] | null =>
  value === undefined || value === null ? null : textsIn(value);

const numbersIn = (value: Value | undefined): number[] => textsIn(value).map(Number);

const isDefined = (value: Value | undefined): boolean => value !== undefined && value !== null;

export const secondsOf = (value: Value | undefined): number | null =>
  typeof value === 'string' || typeof value === 'number' ? (durationSeconds(value) ?? null) : null;

const whenKept = (value: Value | undefined) => (textOf(value) ?? 'on_success') as PlannedArtifacts['when'];

function imageFields(value: Hash): PlannedImage {
  const executors = ['docker', 'kubernetes'].filter((key) => value.has(key));
  return {
    name: textOf(value.get('name')) ?? '',
    entrypoint: textsOrNull(value.get('entrypoint')),
    pullPolicy: textsOrNull(value.get('pull_policy')),
    executorOptions: Object.fromEntries(executors.map((key) => [key, toJson(value.get(key))])),
  };
}

const named = (value: Value | undefined): Hash =>
  typeof value === 'string' ? new Map([['name', value]]) : hashIn(value);

export const imageOf = (value: Value | undefined): PlannedImage | null =>
  isDefined(value) ? imageFields(named(value)) : null;

export const servicesOf = (value: Value | undefined): PlannedService[] =>
  (Array.isArray(value) ? value : []).map(named).map((service) => ({
    ...imageFields(service),
    alias: textOf(service.get('alias')),
    command: textsOrNull(service.get('command')),
    variables: yamlVariables(service.get('variables')),
  }));

export function artifactsOf(value: Value | undefined, pages: PlannedPages | null): PlannedArtifacts | null {
  if (!isDefined(value) && !pages) return null;
  const artifacts = hashIn(value);
  const reports = hashIn(artifacts.get('reports'));
  const coverage = reports.get('coverage_report');
  const paths = textsIn(artifacts.get('paths'));
  const isPublished = !pages || paths.includes(pages.publish);
  return {
    name: textOf(artifacts.get('name')),
    paths: isPublished ? paths : [...paths, pages.publish],
    exclude: textsIn(artifacts.get('exclude')),
    untracked: artifacts.get('untracked') === true,
    when: whenKept(artifacts.get('when')),
    expireIn: textOf(artifacts.get('expire_in')),
    exposeAs: textOf(artifacts.get('expose_as')),
    access: (textOf(artifacts.get('access')) ??
      (artifacts.get('public') === false ? 'developer' : 'all')) as PlannedArtifacts['access'],
    reports: Object.fromEntries([
      ...reportTypes
        .filter((type) => isDefined(reports.get(type)))
        .map((type) => [type, textsIn(reports.get(type))] as const),
      ...(isHash(coverage) ? [['coverage_report', textsIn(coverage.get('path'))] as const] : []),
    ]),
    coverageFormat: textOf(hashIn(coverage).get('coverage_format')),
  };
}

export const cachesOf = (value: Value | undefined): PlannedCache[] =>
  (isDefined(value) ? [value].flat() : []).map(hashIn).map((cache) => {
    const key = cache.get('key');
    const kind = hashIn(key).has('files') ? 'files' : 'files_commits';
    return {
      key: isHash(key)
        ? {
            files: textsIn(key.get(kind)),
            of: kind === 'files' ? 'contents' : 'commits',
            prefix: textOf(key.get('prefix')),
          }
        : (textOf(key) ?? 'default'),
      paths: textsIn(cache.get('paths')),
      untracked: cache.get('untracked') === true,
      unprotect: cache.get('unprotect') === true,
      policy: textOf(cache.get('policy')) ?? 'pull-push',
      when: whenKept(cache.get('when')),
      fallbackKeys: textsIn(cache.get('fallback_keys')),
    };
  });

export function retryOf(value: Value | undefined): PlannedRetry | null {
  if (typeof value === 'number') return { max: value, when: [], exitCodes: [] };
  if (!isHash(value)) return null;
  const when = textsIn(value.get('when'));
  return {
    max: Number(value.get('max') ?? 0),
    when: when.includes('always') ? [] : when,
    exitCodes: numbersIn(value.get('exit_codes')),
  };
}

const expandOrNull = (text: string | null, variable: Lookup): string | null =>
  text === null ? null : expandText(text, variable);

export function environmentOf(value: Value | undefined, variable: Lookup): PlannedEnvironment | null {
  if (!isDefined(value)) return null;
  const environment = named(value);
  return {
    name: expandText(textOf(environment.get('name')) ?? '', variable),
    url: textOf(environment.get('url')),
    action: (textOf(environment.get('action')) ?? 'start') as PlannedEnvironment['action'],
    onStop: textOf(environment.get('on_stop')),
    autoStopIn: expandOrNull(textOf(environment.get('auto_stop_in')), variable),
    deploymentTier: textOf(environment.get('deployment_tier')) as PlannedEnvironment['deploymentTier'],
    kubernetes: toJson(environment.get('kubernetes')),
  };
}

export function releaseOf(value: Value | undefined): PlannedRelease | null {
  if (!isHash(value)) return null;
  const links = hashIn(value.get('assets')).get('links');
  return {
    tagName: textOf(value.get('tag_name')) ?? '',
    tagMessage: textOf(value.get('tag_message')),
    name: textOf(value.get('name')),
    description: textOf(value.get('description')) ?? '',
    ref: textOf(value.get('ref')),
    releasedAt: textOf(value.get('released_at')),
    milestones: textsIn(value.get('milestones')),
    links: (Array.isArray(links) ? links : []).map(hashIn).map((link) => ({
      name: textOf(link.get('name')) ?? '',
      url: textOf(link.get('url')) ?? '',
      filepath: textOf(link.get('filepath')),
      linkType: textOf(link.get('link_type')),
    })),
  };
}

export function triggerOf(job: Hash, variable: Lookup): PlannedTrigger {
  const value = job.get('trigger');
  const trigger = typeof value === 'string' ? new Map([['project', value]]) : hashIn(value);
  const forward = hashIn(trigger.get('forward'));
  const upstream = needItems(job.get('needs')).map((need) => textOf(hashIn(need).get('pipeline')));
  const expanded = (key: string): string | null => {
    const text = textOf(trigger.get(key));
    return text === null ? null : expandText(text, variable);
  };
  const include = trigger.get('include');
  let target: PlannedTrigger['target'] = { kind: 'upstream', project: '' };
  if (isDefined(include)) target = { kind: 'child', include: [include ?? null].flat().map(toJson) };
  else if (trigger.has('project'))
    target = { kind: 'project', project: expanded('project') ?? '', branch: expanded('branch') };
  else target = { kind: 'upstream', project: expandText(upstream.find(Boolean) ?? '', variable) };
  return {
    target,
    strategy: textOf(trigger.get('strategy')) as PlannedTrigger['strategy'],
    forward: {
      yamlVariables: forward.get('yaml_variables') !== false,
      pipelineVariables: forward.get('pipeline_variables') === true,
    },
    inputs: Object.fromEntries(
      Array.from(hashIn(trigger.get('inputs')), ([key, each]) => [key, toJson(each)]),
    ),
  };
}

/** Of the job named `pages`, or one that says so. */
export function pagesOf(name: string, job: Hash): PlannedPages | null {
  const value = job.get('pages');
  if (value === false || (name !== 'pages' && !isDefined(value))) return null;
  const pages = hashIn(value);
  return {
    publish: textOf(pages.get('publish')) ?? textOf(job.get('publish')) ?? 'public',
    pathPrefix: textOf(pages.get('path_prefix')),
    expireIn: textOf(pages.get('expire_in')),
  };
}

/** The codes with which alone a job may fail. */
export const exitCodesOf = (allowFailure: Value | undefined): number[] | null =>
  isHash(allowFailure) ? numbersIn(allowFailure.get('exit_codes')) : null;

export const idTokensOf = (value: Value | undefined): { [name: string]: { aud: string[] } } =>
  Object.fromEntries(
    Array.from(hashIn(value), ([name, token]) => [name, { aud: textsIn(hashIn(token).get('aud')) }]),
  );
