/** What the identity token of a job says of it (facts-ci: 4, id_tokens). Pure. */
import { fullRef } from '../../../platform/git/names.ts';

export type JobIdentity = {
  /** The address of the instance. */
  issuer: string;
  /** Seconds since 1970. */
  issuedAt: number;
  /** Seconds that the job may run. */
  timeout: number;
  /** Of this token alone. */
  id: string;
  job: { id: number };
  pipeline: { id: number; source: string; sha: string; isProtected: boolean };
  /** The ref as jobs know it: of a merge request, its source branch. */
  ref: { name: string; kind: 'branch' | 'tag' | 'merge_request'; full: string };
  project: {
    id: number;
    fullPath: string;
    namespaceId: number;
    namespacePath: string;
    visibility: string;
    configPath: string;
  };
  user: {
    id: number;
    username: string;
    email: string;
    /** As small letters; null for who is no member. */
    role: string | null;
    /** The full paths of the groups that they are members of themselves. */
    groups: readonly string[];
  };
  runnerId: number | null;
  environment?: { name: string; isProtected: boolean; tier: string; action: string } | undefined;
};

/** Services that trust clocks of their own take it a little earlier. */
const EARLIER_SECONDS = 5;
/** More groups are not told. */
const MAX_GROUPS = 200;

/** The claims for these receivers; numbers are texts, but for times and the runner's. */
export function claimsOf(of: JobIdentity, audience: readonly string[]): Record<string, unknown> {
  const { issuer, issuedAt, job, pipeline, ref, project, user, environment } = of;
  const { id, fullPath, namespaceId, namespacePath } = project;
  const type = ref.kind === 'tag' ? 'tag' : 'branch';
  const path = ref.kind === 'merge_request' ? ref.full : fullRef(type, ref.name);
  const [only = '', ...others] = audience;
  return {
    iss: issuer,
    sub: `project_path:${fullPath}:ref_type:${type}:ref:${ref.name}`,
    aud: others.length > 0 ? [...audience] : only,
    iat: issuedAt,
    nbf: issuedAt - EARLIER_SECONDS,
    exp: issuedAt + of.timeout,
    jti: of.id,
    namespace_id: String(namespaceId),
    namespace_path: namespacePath,
    project_id: String(id),
    project_path: fullPath,
    user_id: String(user.id),
    user_login: user.username,
    user_email: user.email,
    user_access_level: user.role,
    job_project_id: String(id),
    job_project_path: fullPath,
    job_namespace_id: String(namespaceId),
    job_namespace_path: namespacePath,
    pipeline_id: String(pipeline.id),
    pipeline_source: pipeline.source,
    job_id: String(job.id),
    ref: ref.name,
    ref_type: type,
    ref_path: path,
    ref_protected: String(pipeline.isProtected),
    ...(user.groups.length <= MAX_GROUPS && { groups_direct: [...user.groups] }),
    ...(environment && {
      environment: environment.name,
      environment_protected: String(environment.isProtected),
      deployment_tier: environment.tier,
      environment_action: environment.action,
    }),
    runner_id: of.runnerId,
    runner_environment: 'self-hosted',
    sha: pipeline.sha,
    project_visibility: project.visibility,
    ci_config_ref_uri: `${issuer.replace(/^.*?:\/\//, '')}/${fullPath}//${project.configPath}@${path}`,
    ci_config_sha: pipeline.sha,
  };
}
