/** Requests to check configuration files, and what is said of them (facts for CI: Lint API). */
import Type from 'typebox';
import { nullable } from '../../../platform/http/parameters/schema.ts';

const revision = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));
const more = {
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'As a push to the ref would be: with rules and rights.' }),
  ),
  include_jobs: Type.Optional(Type.Boolean({ default: false, description: 'With the jobs.' })),
  ref: revision('Branch or tag of the pipeline; the default branch without it.'),
};

export const FileInput = Type.Object({
  ...more,
  content_ref: revision('Commit, branch or tag with the file; the default branch without it.'),
  sha: revision('The older name of `content_ref`, which comes first.'),
  dry_run_ref: revision('The same as `ref`, and comes first.'),
});

export const TextInput = Type.Object({
  ...more,
  content: Type.String({ description: 'A configuration, of the length that a file may have.' }),
});

const texts = Type.Array(Type.String());
const text = nullable(Type.String());

const LintedJob = Type.Object({
  name: Type.String(),
  stage: Type.String(),
  before_script: texts,
  script: texts,
  after_script: texts,
  tag_list: texts,
  only: Type.Unknown(),
  except: Type.Unknown(),
  environment: text,
  when: Type.String(),
  allow_failure: Type.Boolean(),
  needs: nullable(
    Type.Array(Type.Object({ name: Type.String(), artifacts: Type.Boolean(), optional: Type.Boolean() })),
  ),
});

const IncludedRecord = Type.Object({
  type: Type.String(),
  location: Type.String(),
  blob: text,
  raw: text,
  extra: Type.Record(Type.String(), Type.Unknown()),
  context_project: text,
  context_sha: text,
});

export const LintResult = Type.Object({
  valid: Type.Boolean(),
  errors: texts,
  warnings: texts,
  merged_yaml: nullable(Type.String({ description: 'All files as one; null where they are too long.' })),
  includes: Type.Array(IncludedRecord),
  jobs: Type.Optional(Type.Array(LintedJob)),
});
