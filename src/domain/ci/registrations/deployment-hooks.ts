/** Deployments, as hooks are told of them: of each change of a status. */
import { shortSha, titleOf } from '../../../platform/git/commit-texts.ts';
import { findCommit } from '../../../platform/git/refs.ts';
import {
  type HookEvent,
  type HookServices,
  hookProject,
  hookSource,
  hookTime,
  hookUser,
  readContext,
  readUsers,
} from '../../hooks/index.ts';
import { projectRepository } from '../../repositories/index.ts';
import { selectPayloadDeployments } from './hook-queries.ts';

type DeploymentsFact = {
  project_id: number;
  deployments: readonly { id: number; status: string }[];
  fact_at: string;
};

/** Of one change; further ones are not told. */
const MAX_DEPLOYMENTS = 1_000;

async function deploymentEvents(services: HookServices, fact: DeploymentsFact): Promise<HookEvent[]> {
  const changed = fact.deployments.slice(0, MAX_DEPLOYMENTS);
  const [context, rows] = await Promise.all([
    readContext(services, fact.project_id, undefined),
    selectPayloadDeployments(
      services.database.background,
      fact.project_id,
      changed.map(({ id }) => id),
    ),
  ]);
  if (!context) return [];
  const { around, project: row } = context;
  const project = hookProject(around, row);
  const [people, commits] = await Promise.all([
    readUsers(services, around, [...new Set(rows.flatMap(({ user_id }) => user_id ?? []))]),
    services.repositories.read(projectRepository(row.id), row.repository_storage, (git) =>
      Promise.all([...new Set(rows.map(({ sha }) => sha))].map((sha) => findCommit(git, sha))),
    ),
  ]);
  const titles = new Map(
    (commits ?? []).flatMap((commit) => (commit ? [[commit.oid, titleOf(commit.message)]] : [])),
  );
  const url = project.web_url;
  const byId = new Map(rows.map((each) => [each.id, each]));
  return changed.flatMap(({ id, status }): HookEvent[] => {
    const deployment = byId.get(id);
    if (!deployment) return [];
    const user = people.get(deployment.user_id ?? 0);
    const body = {
      object_kind: 'deployment',
      status,
      status_changed_at: hookTime(new Date(fact.fact_at)),
      deployment_id: id,
      deployable_id: deployment.job_id,
      deployable_url: deployment.job_id === null ? null : `${url}/-/jobs/${deployment.job_id}`,
      environment: deployment.name,
      environment_tier: deployment.tier,
      environment_slug: deployment.slug,
      environment_external_url: deployment.external_url,
      project,
      short_sha: shortSha(deployment.sha),
      user: user ? hookUser(user) : null,
      user_url: user ? user.web_url : null,
      commit_url: `${url}/-/commit/${deployment.sha}`,
      commit_title: titles.get(deployment.sha) ?? null,
      ref: deployment.ref,
    };
    return [{ flag: 'deployment_events', body }];
  });
}

export const deploymentHooks = hookSource<DeploymentsFact>({
  fact: 'deployments_changed',
  flags: ['deployment_events'],
  eventsOf: deploymentEvents,
});
