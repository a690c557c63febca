/** Keywords that jobs have and defaults, too (facts-ci: 2.5). */
import { MONTH_SECONDS } from '../duration.ts';
import { isHash, type Value } from '../reading/value.ts';
import {
  atMost,
  attribute,
  bool,
  type Check,
  checkOf,
  config,
  duration,
  entry,
  filled,
  hash,
  hashOf,
  integer,
  isGiven,
  isText,
  type Keywords,
  nestedTexts,
  noMoreThan,
  oneOf,
  type Rule,
  required,
  text,
  textOrTexts,
  texts,
} from './check.ts';

const MAX_CACHES = 4;
const MAX_CACHE_FILES = 2;
const MAX_FALLBACK_KEYS = 5;
const MAX_TAGS = 50;
const MAX_RETRIES = 2;
const MAX_EXPOSE_LENGTH = 100;

const whenKept = ['on_success', 'on_failure', 'always'];

/** Of variables in the file; what only descriptions of forms need is for the top level. */
export const variablesOf =
  (data: readonly string[]): Check =>
  (value, location, findings) => {
    if (!isHash(value)) {
      findings.add(location, 'config should be a hash');
      return;
    }
    for (const [key, item] of value) {
      const at = location.below(key);
      if (!isHash(item)) {
        if (Array.isArray(item)) findings.add(at, 'variable definition must be either a string or a hash');
        continue;
      }
      const unknown = [...item.keys()].filter((each) => !data.includes(each));
      if (unknown.length > 0)
        findings.add(at, `config uses invalid data keys: ${unknown.join(', ')}`, unknown[0]);
      for (const problem of variableProblems(Object.fromEntries(item)))
        if (problem) findings.add(at, `config ${problem}`);
    }
  };

function* variableProblems({ value, description, expand, options }: Record<string, Value>) {
  yield typeof value === 'object' && value !== null && 'value must be a string';
  yield isGiven(description) && !isText(description) && 'description must be a string';
  yield isGiven(expand) && typeof expand !== 'boolean' && 'expand must be a boolean value';
  if (!isGiven(options)) return;
  const isList = Array.isArray(options) && options.every((option) => typeof option !== 'object');
  yield !isList && 'options must be an array of strings';
  yield isList && !options.map(String).includes(String(value)) && 'value must be one of the options';
}

export const globalVariables = variablesOf(['value', 'description', 'options', 'expand']);
export const jobVariables = variablesOf(['value', 'expand']);

const pullPolicies = ['always', 'never', 'if-not-present'];
const pullPolicy: Rule = (value) => {
  const given = [value].flat();
  return (
    (given.length === 0 || !given.every((each) => pullPolicies.includes(String(each)))) &&
    `should be one of: ${pullPolicies.join(', ')}`
  );
};

const imageKeywords: Keywords = {
  name: required(text, filled),
  entrypoint: attribute(texts),
  pull_policy: attribute(pullPolicy),
  docker: entry(hashOf({ platform: attribute(text), user: attribute(text) })),
  kubernetes: entry(hashOf({ user: attribute(text) })),
};

const textOr =
  (otherwise: Check): Check =>
  (value, location, findings) => {
    if (!isText(value)) otherwise(value, location, findings);
    else if (value === '') findings.add(location, "config can't be blank");
  };

const image = textOr(hashOf(imageKeywords, { otherwise: 'config should be a hash or a string' }));

const service = textOr(
  hashOf(
    {
      ...imageKeywords,
      alias: attribute(text),
      command: attribute(texts),
      variables: entry(jobVariables),
    },
    { otherwise: 'config should be a hash or a string' },
  ),
);

const services: Check = (value, location, findings) => {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) service(item, location.below(index, ':service'), findings);
  else findings.add(location, 'config should be a array');
};

const cacheKey: Check = (value, location, findings) => {
  if (isHash(value)) {
    cacheKeyOfFiles(value, location, findings);
    return;
  }
  const problem =
    typeof value === 'object' ? 'should be a hash, a string or a symbol' : keyProblem(String(value));
  if (problem) findings.add(location, typeof value === 'object' ? problem : `config ${problem}`);
};

function keyProblem(key: string): string | undefined {
  if (/\/|%2f/i.test(key)) return 'cannot contain the "/" character';
  return /^(\.|%2e)+$/i.test(key) ? 'cannot be "." or ".."' : undefined;
}

const keyFiles = config(texts, (value) => {
  const { length } = value as string[];
  if (length === 0) return 'requires at least 1 item';
  return length > MAX_CACHE_FILES && `has too many items (maximum is ${MAX_CACHE_FILES})`;
});

const cacheKeyOfFiles = hashOf(
  { files: keyFiles, files_commits: keyFiles, prefix: config(text) },
  {
    exclusive: [['files', 'files_commits']],
    more: (key, location, findings) => {
      if (!key.has('files') && !key.has('files_commits'))
        findings.add(location, 'config missing required keys: files');
    },
  },
);

const oneCache = hashOf({
  key: entry(cacheKey),
  paths: config(texts),
  untracked: config(bool),
  unprotect: config(bool),
  policy: attribute(
    (value) =>
      !/^(pull-push|pull|push|\$\w+|\$\{\w+\})$/.test(String(value)) &&
      'should be a variable or one of: pull-push, push, pull',
  ),
  when: attribute(oneOf(whenKept)),
  fallback_keys: attribute(texts, noMoreThan(MAX_FALLBACK_KEYS)),
});

const cache: Check = (value, location, findings) => {
  if (!Array.isArray(value)) {
    if (isHash(value)) oneCache(value, location, findings);
    else findings.add(location, 'config can only be a Hash or an Array');
    return;
  }
  if (value.length > MAX_CACHES)
    findings.add(location, `config no more than ${MAX_CACHES} caches can be created`);
  for (const [index, each] of value.entries()) oneCache(each, location.below(index, ''), findings);
};

/** Types whose artifacts are files; the coverage report says its format, too. */
export const reportTypes = [
  ...['accessibility', 'annotations', 'api_fuzzing', 'browser_performance', 'cluster_image_scanning'],
  ...['codequality', 'container_scanning', 'coverage_fuzzing', 'cyclonedx', 'dast', 'dependency_scanning'],
  ...['dotenv', 'junit', 'license_scanning', 'load_performance', 'lsif', 'metrics', 'performance'],
  ...['repository_xray', 'requirements', 'requirements_v2', 'sarif', 'sast', 'secret_detection', 'terraform'],
];

const reports = hashOf({
  ...Object.fromEntries(reportTypes.map((type) => [type, attribute(textOrTexts)])),
  coverage_report: entry(
    hashOf({ coverage_format: required(oneOf(['cobertura', 'jacoco'])), path: required(text) }),
  ),
});

const artifacts = hashOf(
  {
    name: attribute(text),
    untracked: attribute(bool),
    paths: attribute(texts),
    exclude: attribute(texts),
    when: attribute(oneOf(whenKept)),
    expire_in: attribute(duration(Number.POSITIVE_INFINITY, ['never'])),
    expose_as: attribute(text, atMost(MAX_EXPOSE_LENGTH), (value) =>
      /^\w[-\w ]*$/.test(String(value)) ? undefined : "can contain only letters, digits, '-', '_' and spaces",
    ),
    public: attribute(bool),
    access: attribute(oneOf(['all', 'developer', 'maintainer', 'none'])),
    reports: entry(reports),
  },
  {
    exclusive: [['public', 'access']],
    more: (hashed, location, findings) => {
      const paths = hashed.get('paths');
      if (!isGiven(hashed.get('expose_as'))) return;
      if (!isGiven(paths)) findings.add(location, "paths can't be blank", 'expose_as');
      else if (String(paths).includes('*'))
        findings.add(location, "paths can't contain '*' when used with 'expose_as'", 'paths');
    },
  },
);

/** Reasons that `retry:when` may name (facts-ci: 3.5). */
const retryReasons = new Set(
  `always unknown_failure script_failure api_failure stuck_or_timeout_failure runner_system_failure runner_unsupported
   stale_schedule job_execution_timeout archived_failure unmet_prerequisites scheduler_failure data_integrity_failure
   missing_dependency_failure job_execution_server_timeout image_pull_failure runner_configuration_error
   runner_external_dependency_failure runner_interrupted`.split(/\s+/),
);

const exitCodes: Rule = (value) =>
  ![value].flat().every((code) => typeof code === 'number') && 'should be an array of integers or an integer';

const retryOf = hashOf(
  {
    max: attribute(integer(0, MAX_RETRIES)),
    when: attribute(textOrTexts, (value) => {
      if (isText(value)) return !retryReasons.has(value) && 'is not included in the list';
      const unknown = (value as string[]).filter((reason) => !retryReasons.has(reason));
      return unknown.length > 0 && `contains unknown values: ${unknown.join(', ')}`;
    }),
    exit_codes: attribute(exitCodes),
  },
  { otherwise: 'config has to be either an integer or a hash' },
);

const retry: Check = (value, location, findings) => {
  if (typeof value === 'number') checkOf(integer(0, MAX_RETRIES))(value, location, findings);
  else retryOf(value, location, findings);
};

const tags = config(
  texts,
  (value) => (value as string[]).length >= MAX_TAGS && `must be less than the limit of ${MAX_TAGS} tags`,
);

const idTokens: Check = (value, location, findings) => {
  if (!isHash(value)) findings.add(location, 'config should be a hash');
  else
    for (const [name, token] of value)
      hashOf({ aud: required(textOrTexts) })(token, location.below(name), findings);
};

/** What `default:` has. */
export const defaultKeywords: Keywords = {
  before_script: config(nestedTexts),
  after_script: config(nestedTexts),
  hooks: entry(hashOf({ pre_get_sources_script: config(nestedTexts) })),
  cache: entry(cache),
  image: entry(image),
  services: entry(services),
  interruptible: config(bool),
  timeout: config(duration(MONTH_SECONDS)),
  retry: entry(retry),
  tags,
  artifacts: entry(artifacts),
  id_tokens: entry(idTokens),
  identity: config(text),
};

export const allowFailure: Check = (value, location, findings) => {
  if (isHash(value)) hashOf({ exit_codes: required(exitCodes) })(value, location, findings);
};
export const allowFailureKind: Rule = (value) =>
  typeof value !== 'boolean' && !isHash(value) && 'should be a hash or a boolean value';

const environmentCharacters = /^(?![\s/])[\w/\\${}.\s-]*(?<![\s/])$/;
const MAX_ENVIRONMENT_LENGTH = 255;

const environmentName: Rule = (value) =>
  isText(value) &&
  !environmentCharacters.test(value) &&
  "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'";

const environmentOf = hashOf(
  {
    name: required(text, filled, atMost(MAX_ENVIRONMENT_LENGTH), environmentName),
    url: attribute(text, atMost(MAX_ENVIRONMENT_LENGTH)),
    action: attribute(
      oneOf(
        ['start', 'stop', 'prepare', 'verify', 'access'],
        'should be start, stop, prepare, verify, or access',
      ),
    ),
    on_stop: attribute(text),
    auto_stop_in: attribute((value, findings) =>
      isText(value) && value.includes('$')
        ? undefined
        : duration(Number.POSITIVE_INFINITY, ['never'])(value, findings),
    ),
    deployment_tier: attribute(
      oneOf(
        ['production', 'staging', 'testing', 'development', 'other'],
        'must be one of production, staging, testing, development, or other',
      ),
    ),
    kubernetes: entry(
      hashOf({
        agent: attribute(text),
        namespace: attribute(text),
        flux_resource_path: attribute(text),
        dashboard: attribute(hash),
        managed_resources: attribute(hash),
      }),
    ),
  },
  { otherwise: 'config should be a hash or a string' },
);

export const environment: Check = (value, location, findings) =>
  environmentOf(isText(value) ? new Map([['name', value]]) : value, location, findings);
