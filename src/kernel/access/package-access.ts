/** The access rules of package programs, of which some come with a deploy token. */
import type { RawBuilder } from 'kysely';
import type { Sql } from '../../platform/db/driver/sql.ts';
import { Failure, notFound, unauthenticated } from '../../platform/failure.ts';
import type { Caller } from '../actor.ts';
import type { DeployToken } from '../identity/deploy-token-queries.ts';
import { isForAnonymous, type ProjectAbility, projectPolicy } from '../policy/policy.ts';
import type { Access } from './access.ts';
import {
  type AuthorizedProject,
  authorizeDeployToken,
  authorizeGroupOfDeployToken,
  authorizeGroupOfPublicPackages,
  authorizeGroupOrJobs,
  authorizeProject,
} from './find.ts';
import { findProjectAt } from './find-queries.ts';
import {
  alsoPublicRegistries,
  belowGroup,
  projectsOfDeployToken,
  projectsWith,
} from './project-list-queries.ts';

/** Who comes without a credential is asked for one, whatever there is: most programs send theirs only then. */
const asked = <T>(caller: Caller, finding: Promise<T>): Promise<T> =>
  finding.catch((error: unknown) => {
    throw error instanceof Failure && !caller ? unauthenticated() : error;
  });

/** What is open to all opens with every credential, too. */
const orElse = <T>(finding: Promise<T>, otherwise: () => Promise<T>): Promise<T> =>
  finding.catch((error: unknown) =>
    otherwise().catch(() => {
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
    ? orElse(authorizeDeployToken(points, deployToken, ability, reference), byActor)
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

/** The project whose full path is one of those that the path parameter says, by `pathsOf`; of several there is at most one. */
export const onPackagesAt = (
  ability: ProjectAbility,
  parameter: string,
  pathsOf: (text: string) => readonly string[],
): Access<AuthorizedProject, Caller> => {
  const byId = onPackages(ability);
  return {
    ...byId,
    find: async (request) => {
      const id = await findProjectAt(request.sql, pathsOf(request.params[parameter] ?? ''));
      return byId.find({ ...request, params: { id: String(id ?? 0) } });
    },
  };
};

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

export type GroupPackages = {
  groupId: number;
  projects: ProjectIds;
  /** Refuses what is not among them: who came without a credential is asked for one. */
  missing(): Failure;
};

/**
 * The packages of the projects below a group, by a path parameter; for some formats with those of projects that have opened
 * theirs: to everybody, or to everybody with a credential.
 */
export const onGroupPackages = ({
  parameter = 'id',
  opened,
}: {
  parameter?: string;
  opened?: 'to_everybody' | 'with_credential';
} = {}): Access<GroupPackages, Caller> => ({
  sentence: { on: 'group', ability: 'read_group' },
  anonymous: true,
  find: async ({ sql: points, caller, deployToken, params }) => {
    const reference = params[parameter] ?? '';
    const seesOpened = opened === 'to_everybody' || (opened !== undefined && Boolean(caller ?? deployToken));
    const byCaller = () => {
      const finding = authorizeGroupOrJobs(points, caller, reference);
      return seesOpened ? orElse(finding, () => authorizeGroupOfPublicPackages(points, reference)) : finding;
    };
    const { id: groupId } = deployToken
      ? await orElse(authorizeGroupOfDeployToken(points, deployToken, reference), byCaller)
      : await asked(caller, byCaller());
    const below = belowGroup(groupId);
    const read = projectsRead(caller, deployToken, below);
    const projects = seesOpened ? alsoPublicRegistries(read, below) : read;
    const missing = () => (caller || deployToken ? notFound('Package') : unauthenticated());
    return { subject: { groupId, projects, missing }, actor: caller };
  },
});

/** The packages of those projects that `amongOf` finds by the path parameters. */
export const onInstancePackages = (
  amongOf: (params: Record<string, string>) => RawBuilder<unknown>,
): Access<{ projects: ProjectIds }, Caller> => ({
  sentence: { on: 'anyone', ability: 'call' },
  anonymous: true,
  find: async ({ caller, deployToken, params }) => ({
    subject: { projects: projectsRead(caller, deployToken, amongOf(params)) },
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
