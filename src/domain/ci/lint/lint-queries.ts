/** Checks configuration files, of commits and of requests, by what makes pipelines of them. */
import { notFound } from '../../../platform/failure.ts';
import { refsContaining } from '../../../platform/git/history/history.ts';
import { NO_OBJECT } from '../../../platform/git/names.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import { readRepository } from '../../repositories/index.ts';
import {
  type Creator,
  compileRequest,
  findTarget,
  mergeRequestVariables,
  readConfiguration,
  rightOnRef,
} from '../creation/compile-request.ts';
import { problemsOf, refusalOf } from '../creation/rules.ts';
import { lintConfiguration, simulate } from '../file/compiler.ts';
import type { LintOutcome } from './present.ts';

const UNASSOCIATED =
  'Could not validate configuration. The configuration originates from an external project or a commit not associated with a Git reference (a detached commit)';
const nobody = { name: '', email: '', time: 0, zone: '+0000' };
/** Of a repository without commits, in which no local file is found. */
const NO_COMMIT: Commit = {
  oid: NO_OBJECT,
  tree: NO_OBJECT,
  parents: [],
  author: nobody,
  committer: nobody,
  message: '',
};

const refused = (error: string): LintOutcome => ({
  errors: [error],
  warnings: [],
  mergedYaml: null,
  includes: [],
  jobs: [],
  jobCount: 0,
});

type Asked = {
  /** Of the pipeline: a branch or tag. */
  ref: string | undefined;
  isDryRun: boolean;
  withJobs: boolean;
};

/** The file of a commit; 404 without the commit. */
export async function lintFile(
  creator: Creator,
  revision: string | undefined,
  asked: Asked,
): Promise<LintOutcome> {
  const name = revision ?? creator.subject.row.default_branch;
  const found = name ? await findSource(creator, name) : undefined;
  if (!found) throw notFound('Commit');
  // What nobody here has taken in, such as a fork's, is not compiled with the rights of this project.
  if (!found.isOfProject) return refused(UNASSOCIATED);
  const text = (await readConfiguration(creator, found.commit)) ?? '';
  return asked.isDryRun
    ? dryRun(creator, asked, text, found.commit)
    : staticLint(creator, { ...asked, ref: asked.ref ?? name ?? undefined }, text, found.commit);
}

/** A text of the user's own. */
export async function lintText(creator: Creator, text: string, asked: Asked): Promise<LintOutcome> {
  if (asked.isDryRun) return dryRun(creator, asked, text);
  const name = asked.ref ?? creator.subject.row.default_branch ?? undefined;
  const found = name ? await findTarget(creator, { ref: name }) : undefined;
  return staticLint(creator, { ...asked, ref: name }, text, found?.commit ?? NO_COMMIT);
}

const findSource = ({ services, subject }: Creator, revision: string) =>
  readRepository(services, subject, async (git) => {
    const commit = await findCommit(git, revision);
    return (
      commit && { commit, isOfProject: (await refsContaining(git, commit.oid, ['branch', 'tag'])).length > 0 }
    );
  });

/** Variables for protected refs stay out, since the file may be anybody's who pushes to some branch. */
async function staticLint(
  creator: Creator,
  { ref, withJobs }: Asked,
  text: string,
  commit: Commit,
): Promise<LintOutcome> {
  const target = { commit, kind: 'branch' as const, tagMessage: null };
  const right = { isProtected: false, mayRun: creator.subject.may('run_pipelines') };
  const request = await compileRequest(creator, { source: 'push', ref: ref ?? '' }, target, right, text, []);
  return lintConfiguration(request, withJobs);
}

/** As a push to the ref would be; `source` is the commit with the text, where it is not the user's own. */
async function dryRun(
  creator: Creator,
  { ref, withJobs }: Asked,
  text: string,
  source?: Commit,
): Promise<LintOutcome> {
  if (!creator.subject.may('run_pipelines'))
    return refused('Insufficient permissions to create a new pipeline');
  const request = { source: 'push', ref: ref ?? creator.subject.row.default_branch ?? '' } as const;
  const target = request.ref ? await findTarget(creator, request) : undefined;
  if (!target) return refused('Reference not found');
  const right = await rightOnRef(creator, request, target);
  if (!right.mayRun) return refused(refusalOf(request.ref));
  // A file from elsewhere could send away what is kept for this ref.
  const mayRun = source === undefined || source.oid === target.commit.oid;
  const ofMergeRequests = await mergeRequestVariables(creator, request, target);
  const { outcome, linted } = await simulate(
    await compileRequest(creator, request, target, { ...right, mayRun }, text, ofMergeRequests),
    withJobs,
  );
  return {
    ...linted,
    errors: problemsOf(outcome),
    warnings: outcome.kind === 'planned' ? outcome.pipeline.warnings : linted.warnings,
  };
}
