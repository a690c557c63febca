/** Checks of configuration files (facts: CI lint). */
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { forbidden } from '../../../platform/failure.ts';
import { lintFile, lintText } from './lint-queries.ts';
import { presentLint } from './present.ts';
import { FileInput, LintResult, TextInput } from './schema.ts';

const path = '/projects/:id/ci/lint';
/** Bytes: a text of two mebibytes, with its escapes. */
const BODY_LIMIT = 4 * 1_048_576 + 65_536;

export const lintEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    summary: 'What is wrong with the configuration file of a commit.',
    access: onProject('read_lint'),
    input: FileInput,
    reply: LintResult,
    handle: async ({ services, actor, subject, input }) => {
      const { content_ref, sha, dry_run, dry_run_ref, ref, include_jobs = false } = input;
      const asked = { ref: dry_run_ref ?? ref, isDryRun: dry_run ?? false, withJobs: include_jobs };
      const outcome = await lintFile({ services, actor, subject }, content_ref ?? sha, asked);
      return presentLint(services.baseUrl(), outcome, include_jobs);
    },
  }),
  endpoint({
    method: 'POST',
    path,
    status: 200,
    summary: 'What is wrong with a configuration.',
    access: onProject('run_pipelines'),
    bodyLimit: BODY_LIMIT,
    input: TextInput,
    reply: LintResult,
    handle: async ({ services, actor, subject, input }) => {
      const { content, dry_run, ref, include_jobs = false } = input;
      // The result has the text of included files.
      if (!subject.may('read_code')) throw forbidden();
      const outcome = await lintText({ services, actor, subject }, content, {
        ref,
        isDryRun: dry_run ?? false,
        withJobs: include_jobs,
      });
      return presentLint(services.baseUrl(), outcome, include_jobs);
    },
  }),
];
