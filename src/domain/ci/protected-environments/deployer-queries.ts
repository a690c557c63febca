/** Who may deploy where. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { Db } from '../../../platform/db/database.ts';
import { forbidden } from '../../../platform/failure.ts';
import { selectMemberships, selectProtections } from './queries.ts';
import { mayDeploy } from './rules.ts';

type Deployment = {
  services: Needs<'config'>;
  actor: Pick<Actor, 'id' | 'admin'>;
  subject: Pick<AuthorizedProject, 'id' | 'role' | 'row'>;
};

/** Below Premium nothing protects environments. */
export const protects = (services: Needs<'config'>): boolean => services.config.tier !== 'free';

/** Whether the user may deploy to an environment of the project. */
export async function deployerOf(
  db: Db,
  { services, actor, subject }: Deployment,
): Promise<(environment: { name: string; tier: string }) => boolean> {
  const protections = protects(services) ? await selectProtections(db, subject) : [];
  if (protections.length === 0) return () => true;
  const groups = protections.flatMap(({ entries }) => entries.flatMap(({ group_id }) => group_id ?? []));
  const memberships = await selectMemberships(db, actor.id, groups);
  const deployer = {
    id: actor.id,
    role: subject.role,
    admin: actor.admin,
    isMember: (id: number, inherited: boolean) => {
      const membership = memberships.get(id);
      return membership !== undefined && (inherited || membership.direct);
    },
  };
  return (environment) => mayDeploy(protections, environment, deployer);
}

/** 403 for an environment to which the user may not deploy. */
export async function requireDeployer(
  db: Db,
  deployment: Deployment,
  environment: { name: string; tier: string },
): Promise<void> {
  if (!(await deployerOf(db, deployment))(environment)) throw forbidden();
}

/** The same by the id of the environment; null is none. */
export async function requireDeployerTo(db: Db, deployment: Deployment, id: number | null): Promise<void> {
  if (id === null) return;
  const environment = await db
    .selectFrom('environments')
    .select(['name', 'tier'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (environment) await requireDeployer(db, deployment, environment);
}

/** The environments of a pipeline's jobs to which the user may not deploy. */
export async function selectClosed(db: Db, deployment: Deployment, pipelineId: number): Promise<number[]> {
  const environments = await db
    .selectFrom('environments')
    .select(['id', 'name', 'tier'])
    .where('id', 'in', (eb) =>
      eb.selectFrom('ci_jobs').select('environment_id').where('pipeline_id', '=', pipelineId).$castTo<{
        environment_id: number;
      }>(),
    )
    .execute();
  if (environments.length === 0) return [];
  const isOpen = await deployerOf(db, deployment);
  return environments.filter((each) => !isOpen(each)).map(({ id }) => id);
}
