/** Who may deploy where. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Json } from '../../../platform/db/rows.ts';
import { forbidden } from '../../../platform/failure.ts';
import type { PlannedJob } from '../file/plan.ts';
import { guessTier } from '../file/tier.ts';
import { type ApprovedProtection, missingApprovals } from './approval-rules.ts';
import { selectMemberships, selectProtections } from './queries.ts';
import { type Deployer, type Environment, mayDeploy } from './rules.ts';

type Deployment = {
  services: Needs<'config'>;
  actor: Pick<Actor, 'id' | 'admin'>;
  subject: Pick<AuthorizedProject, 'id' | 'role' | 'row'>;
};

/** Below Premium nothing protects environments. */
export const protects = (services: Needs<'config'>): boolean => services.config.tier !== 'free';

/** What protects the environments of the project, and the user as it sees them. */
export async function readProtections(
  db: Db,
  { services, actor, subject }: Deployment,
): Promise<{ protections: readonly ApprovedProtection[]; deployer: Deployer }> {
  const protections = protects(services) ? await selectProtections(db, subject) : [];
  const groups = protections.flatMap(({ entries, rules }) =>
    [...entries, ...rules].flatMap(({ group_id }) => group_id ?? []),
  );
  const memberships = await selectMemberships(db, actor.id, groups);
  const isMember = (id: number, inherited: boolean) => {
    const membership = memberships.get(id);
    return membership !== undefined && (inherited || membership.direct);
  };
  return { protections, deployer: { id: actor.id, role: subject.role, admin: actor.admin, isMember } };
}

/** Whether the user may deploy to an environment of the project, and whether a deployment waits for approvals there. */
export async function deployerOf(
  db: Db,
  deployment: Deployment,
): Promise<{
  mayDeploy(environment: Environment): boolean;
  needsApproval(environment: Environment): boolean;
}> {
  const { protections, deployer } = await readProtections(db, deployment);
  return {
    mayDeploy: (environment) => mayDeploy(protections, environment, deployer),
    needsApproval: (environment) => missingApprovals(protections, environment, []) > 0,
  };
}

/** 403 for an environment to which the user may not deploy. */
export async function requireDeployer(
  db: Db,
  deployment: Deployment,
  environment: Environment,
): Promise<void> {
  if (!(await deployerOf(db, deployment)).mayDeploy(environment)) throw forbidden();
}

/** The same of what has an environment. That of a job whose environment was deleted is the one that its file names. */
export async function requireDeployerTo(
  db: Db,
  deployment: Deployment,
  { environment_id: id, options }: { environment_id: number | null; options?: Json },
): Promise<void> {
  const known =
    id === null
      ? undefined
      : await db.selectFrom('environments').select(['name', 'tier']).where('id', '=', id).executeTakeFirst();
  // The column of a job holds what the compiler planned.
  const { environment: planned } = (options ?? {}) as unknown as Partial<PlannedJob>;
  const named = planned && { name: planned.name, tier: planned.deploymentTier ?? guessTier(planned.name) };
  const environment = known ?? named;
  if (environment) await requireDeployer(db, deployment, environment);
}

/** The environments of a pipeline's jobs to which the user may not deploy, and those where deployments wait for approvals. */
export async function selectGuarded(
  db: Db,
  deployment: Deployment,
  pipelineId: number,
): Promise<{ closed: number[]; asking: number[] }> {
  const environments = await db
    .selectFrom('environments')
    .select(['id', 'name', 'tier'])
    .where('id', 'in', (eb) =>
      eb.selectFrom('ci_jobs').select('environment_id').where('pipeline_id', '=', pipelineId).$castTo<{
        environment_id: number;
      }>(),
    )
    .execute();
  if (environments.length === 0) return { closed: [], asking: [] };
  const { mayDeploy: isOpen, needsApproval } = await deployerOf(db, deployment);
  return {
    closed: environments.filter((each) => !isOpen(each)).map(({ id }) => id),
    asking: environments.filter(needsApproval).map(({ id }) => id),
  };
}
