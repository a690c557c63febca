/** The identity tokens that the file asks for, signed as all identities are. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { levelName, visibilityName } from '../../../kernel/policy/roles.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { randomId } from '../../../platform/secret.ts';
import { signClaims } from '../../oauth/index.ts';
import { type Expandable, expandText, newRoom, sourceOf, variableLookup } from '../file/expansion.ts';
import type { PlannedJob } from '../file/plan.ts';
import { refOfPipeline } from '../pipelines/refs.ts';
import type { JobRow, PipelineRow } from '../processing/process-actions.ts';
import { protects } from '../protected-environments/deployer-queries.ts';
import { selectProtections } from '../protected-environments/queries.ts';
import { meets } from '../protected-environments/rules.ts';
import { claimsOf, type JobIdentity } from './claims.ts';
import { selectUserOfToken } from './queries.ts';

type Of = {
  job: JobRow;
  planned: PlannedJob;
  pipeline: PipelineRow;
  project: AuthorizedProject;
  configPath: string;
  user: { id: number; username: string; email: string };
  environment: { tier: string } | undefined;
};

/** The tokens by their names; `variables` stand for names in their receivers. Undefined where those are too long. */
export async function signTokens(
  services: Needs<'config' | 'database' | 'secretKey' | 'baseUrl'>,
  of: Of,
  variables: readonly Expandable[],
): Promise<{ key: string; value: string }[] | undefined> {
  const wanted = Object.entries(of.planned.idTokens);
  if (wanted.length === 0) return [];
  const identity = await identityOf(services, of);
  const room = newRoom();
  const lookup = variableLookup(sourceOf(variables), room);
  const audiences = wanted.map(
    ([key, { aud }]) => [key, aud.map((each) => expandText(each, lookup, 'keep', room))] as const,
  );
  if (room.left < 0) return undefined;
  return Promise.all(
    audiences.map(async ([key, audience]) => ({
      key,
      value: await signClaims(services, claimsOf({ ...identity, id: randomId() }, audience)),
    })),
  );
}

async function identityOf(
  services: Parameters<typeof signTokens>[0],
  { job, planned, pipeline, project, configPath, user, environment }: Of,
): Promise<Omit<JobIdentity, 'id'>> {
  const { db } = services.database;
  const { level, groups } = await selectUserOfToken(db, user, project.id);
  const { ref, kind } = refOfPipeline(pipeline);
  const { row } = project;
  return {
    issuer: services.baseUrl(),
    issuedAt: Math.floor(now().getTime() / 1_000),
    timeout: job.timeout ?? 0,
    job,
    pipeline: {
      id: pipeline.id,
      source: pipeline.source,
      sha: pipeline.sha,
      isProtected: pipeline.protected,
    },
    ref: { name: ref, kind, full: pipeline.ref },
    project: {
      id: project.id,
      fullPath: project.fullPath,
      namespaceId: row.namespace_id,
      namespacePath: row.namespace_full_path,
      visibility: visibilityName(row.visibility),
      configPath,
    },
    user: { ...user, role: level > 0 ? levelName(level).toLowerCase() : null, groups },
    runnerId: job.runner_id,
    ...(planned.environment &&
      environment && {
        environment: {
          name: planned.environment.name,
          tier: environment.tier,
          action: planned.environment.action,
          isProtected:
            protects(services) &&
            (await selectProtections(db, project)).some((each) =>
              meets(each, { name: planned.environment?.name ?? '', tier: environment.tier }),
            ),
        },
      }),
  };
}
