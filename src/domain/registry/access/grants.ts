/** What a visitor is granted of the scopes that a program asks for. */
import {
  type AuthorizedProject,
  authorizeDeployToken,
  authorizeGroup,
  authorizeGroupOfDeployToken,
  followProject,
} from '../../../kernel/access/find.ts';
import { findGroupAround } from '../../../kernel/access/find-queries.ts';
import { jobCredentialOf } from '../../../kernel/actor.ts';
import type { Visitor } from '../../../kernel/identity/token-visitor.ts';
import type { ProjectAbility } from '../../../kernel/policy/policy.ts';
import { levelOf } from '../../../kernel/protection/levels.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure } from '../../../platform/failure.ts';
import { type Action, projectCandidates, proxiedImage, type Scope } from '../names/rules.ts';
import { selectRules } from '../protection/queries.ts';
import { requireRepositoryPush } from '../protection/refusals.ts';
import { abilityOf, actionsOf, isShutToJob, mayPullProxied, SERVICE, type TokenService } from './rules.ts';

/** An entry of `access` in a token, as the public registry reads it. */
export type Grant = {
  type: 'repository' | 'registry';
  name: string;
  actions: string[];
  /** `level` is that of protection rules; nobody's, and a deploy token's, is 0. Of an image of another registry, the group. */
  meta?: { project_path: string; project_id: number; level: number } | { group_id: number };
};

/** Undefined where it is missing, invisible or refused. */
async function orNothing<T>(finding: Promise<T>): Promise<T | undefined> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return undefined;
    throw error;
  }
}

const findProject = (
  { database: { points } }: Needs<'database'>,
  { caller, deployToken }: Visitor,
  ability: ProjectAbility,
  path: string,
): Promise<AuthorizedProject | undefined> =>
  orNothing(
    deployToken
      ? authorizeDeployToken(points, deployToken, ability, path)
      : followProject(points, caller, ability, path),
  );

/** The first of the candidates that the visitor sees, by its present or a former path. */
async function locate(services: Needs<'database'>, visitor: Visitor, path: string) {
  for (const { projectPath } of projectCandidates(path)) {
    const project = await findProject(services, visitor, 'read_project', projectPath);
    if (project) return { project, projectPath };
  }
  return undefined;
}

/** The group by whose proxy the visitor may pull; a job pulls by those of the groups around its project. */
async function findProxy(
  { database: { points } }: Needs<'database'>,
  { caller, deployToken }: Visitor,
  groupPath: string,
): Promise<{ id: number } | undefined> {
  if (deployToken) return orNothing(authorizeGroupOfDeployToken(points, deployToken, groupPath));
  const job = jobCredentialOf(caller);
  if (job) return findGroupAround(points, job.projectId, groupPath);
  return orNothing(authorizeGroup(points, caller, 'use_dependency_proxy', groupPath));
}

async function proxyGrantOf(
  services: Needs<'database'>,
  visitor: Visitor,
  scope: { path: string; actions: readonly Action[] },
  groupPath: string,
): Promise<Grant | undefined> {
  if (!scope.actions.includes('pull') || !mayPullProxied(visitor)) return undefined;
  const group = await findProxy(services, visitor, groupPath);
  return group && { type: 'repository', name: scope.path, actions: ['pull'], meta: { group_id: group.id } };
}

async function grantOf(
  services: Needs<'database'>,
  visitor: Visitor,
  service: TokenService,
  scope: Scope,
): Promise<Grant | undefined> {
  const proxied = scope.type === 'repository' ? proxiedImage(scope.path) : undefined;
  if (proxied && scope.type === 'repository')
    return proxyGrantOf(services, visitor, scope, proxied.groupPath);
  if (service !== SERVICE) return undefined;
  if (scope.type === 'catalog')
    return visitor.caller?.admin && actionsOf(visitor).includes('*')
      ? { type: 'registry', name: 'catalog', actions: ['*'] }
      : undefined;
  const { path } = scope;
  const found = await locate(services, visitor, path);
  if (!found) return undefined;
  const { project, projectPath } = found;
  const actions: Action[] = [];
  const given = actionsOf(visitor);
  for (const action of scope.actions) {
    if (!given.includes(action) || isShutToJob(visitor, project.id, action)) continue;
    const ability = abilityOf[action];
    const may = visitor.deployToken
      ? (await findProject(services, visitor, ability, projectPath)) !== undefined
      : project.may(ability);
    if (may) actions.push(action);
  }
  const level = visitor.deployToken ? 0 : levelOf(visitor.caller, project.role);
  // Programs show a refusal of the token service as it is.
  if (actions.includes('push'))
    requireRepositoryPush(await selectRules(services.database.db, project), {
      name: path.slice(projectPath.length + 1),
      level,
    });
  const meta = { project_path: projectPath, project_id: project.id, level };
  return actions.length > 0 ? { type: 'repository', name: path, actions, meta } : undefined;
}

/** What is not granted is left out: the program learns it when it uses the token. */
export async function grantsOf(
  services: Needs<'database'>,
  visitor: Visitor,
  service: TokenService,
  scopes: readonly Scope[],
): Promise<Grant[]> {
  const grants: Grant[] = [];
  for (const scope of scopes) {
    const grant = await grantOf(services, visitor, service, scope);
    if (grant) grants.push(grant);
  }
  return grants;
}
