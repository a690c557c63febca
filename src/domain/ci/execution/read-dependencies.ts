/** The jobs that left something for a job: of its own pipeline, and of others that it names. */
import { type AuthorizedProject, selectProjectAt } from '../../../kernel/access/find.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { Failure } from '../../../platform/failure.ts';
import { expandText, sourceOf, variableLookup } from '../file/expansion.ts';
import type { ForeignNeed, PlannedJob } from '../file/plan.ts';
import { authenticateJob } from '../job-token-scope/authenticate-job.ts';
import { mayDownload } from '../jobs/rules.ts';
import type { JobRow, PipelineRow } from '../processing/process-actions.ts';
import { type Dependency, isOfSameHierarchy, selectOfPipeline, selectOfRef } from './artifact-queries.ts';
import { dependsOn } from './dependencies.ts';
import type { JobSources } from './job-sources.ts';

type Of = { job: JobRow; planned: PlannedJob; pipeline: PipelineRow; project: AuthorizedProject };
type DependencyServices = Needs<'database' | 'settings' | 'authenticator'>;

/** Undefined where something is missing that the job cannot do without. */
export async function readDependencies(
  services: DependencyServices,
  of: Of,
  { predefined, overriding, left }: Pick<JobSources, 'predefined' | 'overriding' | 'left'>,
  token: string,
): Promise<Dependency[] | undefined> {
  const { job, planned } = of;
  const settings = await services.settings.read();
  const own = left.filter(dependsOn(job, planned));
  const needs = planned.foreignNeeds.filter(({ artifacts }) => artifacts);
  const variable = variableLookup(sourceOf([...predefined, ...planned.variables, ...overriding]));
  const others = await Promise.all(
    needs.map((need) => findForeign(services, of, need, { variable, settings, token })),
  );
  const all = [...own, ...others].flatMap((each) => (each && !each.gone ? [each] : []));
  return all.length === own.length + needs.length ? all : undefined;
}

type ForeignContext = {
  variable: (name: string) => string | undefined;
  settings: ApplicationSettings;
  /** The job's own. */
  token: string;
};

async function findForeign(
  services: DependencyServices,
  { pipeline, project }: Of,
  need: ForeignNeed,
  { variable, settings, token }: ForeignContext,
): Promise<Dependency | undefined> {
  const { db, points } = services.database;
  const keepLatest = settings.keep_latest_artifact;
  if (need.kind === 'pipeline') {
    const id = Number(expandText(need.pipeline, variable));
    if (!Number.isSafeInteger(id) || !(await isOfSameHierarchy(db, pipeline.id, id))) return undefined;
    return selectOfPipeline(db, id, need.job, keepLatest);
  }
  const path = expandText(need.project, variable).toLowerCase();
  const ref = expandText(need.ref, variable);
  const isOwn = path === project.fullPath.toLowerCase();
  if (isOwn)
    return selectOfRef(db, project, { ref, job: need.job, access: ['all', 'developer'] }, keepLatest);
  // Of others, a job has what its token opens.
  const caller = await authenticateJob(services, settings, token).catch((error: unknown) => {
    // One that was canceled meanwhile opens nothing.
    if (error instanceof Failure && error.kind === 'unauthenticated') return undefined;
    throw error;
  });
  const found = caller && (await selectProjectAt(points, caller, 'read_pipelines', path));
  const access = ['all', 'developer', 'maintainer'].filter((each) => found && mayDownload(found, each));
  return found && selectOfRef(db, found, { ref, job: need.job, access }, keepLatest);
}
