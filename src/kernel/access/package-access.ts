/** The access rules of package programs, of which some come with a deploy token. */
import type { RawBuilder } from 'kysely';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { Failure, unauthenticated } from '../../platform/failure.ts';
import type { Caller } from '../actor.ts';
import type { DeployToken } from '../identity/deploy-token-queries.ts';
import { isForAnonymous, type ProjectAbility, projectPolicy } from '../policy/policy.ts';
import type { Access } from './access.ts';
import {
  type AuthorizedProject,
  authorizeDeployToken,
  authorizeGroupOfDeployToken,
  authorizeGroupOrJobs,
  authorizeProject,
} from './find.ts';
import { belowGroup, belowRoot, projectsOfDeployToken, projectsWith } from './project-list-queries.ts';

/** Who comes without a credential is asked for one, whatever there is: most programs send theirs only then. */
const asked = <T>(caller: Caller, finding: Promise<T>): Promise<T> =>
  finding.catch((error: unknown) => {
    throw error instanceof Failure && !caller ? unauthenticated() : error;
  });

/** A deploy token opens what is open to all, too. */
const ofTokenOrAnybody = <T>(finding: Promise<T>, anybody: () => Promise<T>): Promise<T> =>
  finding.catch((error: unknown) =>
    anybody().catch(() => {
      throw error;
    }),
  );

/** A project, by its id or full path, for whom a package program comes. */
const findProject = (
  points: Sql,
  { actor, deployToken }: { actor: Caller; deployToken: DeployToken | undefined },
  ability: ProjectAbility,
  reference: string,
): Promise<AuthorizedProject> => {
  const byActor = () => authorizeProject(points, actor, ability, reference);
  return deployToken
    ? ofTokenOrAnybody(authorizeDeployToken(points, deployToken, ability, reference), byActor)
    : byActor();
};

/** A project, by the path parameter `id`. */
export const onPackages = (ability: ProjectAbility): Access<AuthorizedProject, Caller> => ({
  sentence: { on: 'project', ability },
  anonymous: isForAnonymous(projectPolicy[ability]),
  find: async ({ sql: points, caller, deployToken, params: { id = '' } }) => {
    const finding = findProject(points, { actor: caller, deployToken }, ability, id);
    return { subject: await (deployToken ? finding : asked(caller, finding)), actor: caller };
  },
});

/** The ids of projects whose packages are read, in brackets. */
export type ProjectIds = RawBuilder<unknown>;

const projectsRead = (
  caller: Caller,
  deployToken: DeployToken | undefined,
  among: RawBuilder<unknown>,
): ProjectIds =>
  deployToken
    ? projectsOfDeployToken('read_packages', deployToken, among)
    : projectsWith('read_packages', caller, among);

/** The packages of the projects below a group, by the path parameter `id`. */
export const onGroupPackages: Access<{ groupId: number; projects: ProjectIds }, Caller> = {
  sentence: { on: 'group', ability: 'read_group' },
  anonymous: true,
  find: async ({ sql: points, caller, deployToken, params }) => {
    const reference = params.id ?? '';
    const byCaller = () => authorizeGroupOrJobs(points, caller, reference);
    const { id: groupId } = deployToken
      ? await ofTokenOrAnybody(authorizeGroupOfDeployToken(points, deployToken, reference), byCaller)
      : await asked(caller, byCaller());
    const projects = projectsRead(caller, deployToken, belowGroup(groupId));
    return { subject: { groupId, projects }, actor: caller };
  },
};

/** The packages of the projects below the group or user whose path `rootOf` finds in the path parameters. */
export const onInstancePackages = (
  rootOf: (params: Record<string, string>) => string,
): Access<{ projects: ProjectIds }, Caller> => ({
  sentence: { on: 'anyone', ability: 'call' },
  anonymous: true,
  find: async ({ caller, deployToken, params }) => ({
    subject: { projects: projectsRead(caller, deployToken, belowRoot(rootOf(params).toLowerCase())) },
    actor: caller,
  }),
});

/** A project whose packages a program names otherwise than by its address, by its id. */
export const authorizePackages = (
  points: Sql,
  by: { actor: Caller; deployToken: DeployToken | undefined },
  ability: ProjectAbility,
  id: number,
): Promise<AuthorizedProject> => findProject(points, by, ability, String(id));
