/** Registry of how the newest pipeline of a commit is found. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { PipelineBasic } from './schema.ts';

/** Undefined where the commit has none. */
type FindLastPipeline = (
  services: Needs<'database' | 'baseUrl'>,
  project: AuthorizedProject,
  sha: string,
) => Promise<PipelineBasic | undefined>;

export const lastPipelines = new Registry<FindLastPipeline>();

/** The newest pipeline of the commit. */
export async function findLastPipeline(
  services: Needs<'database' | 'baseUrl' | 'registered'>,
  project: AuthorizedProject,
  sha: string,
): Promise<PipelineBasic | undefined> {
  const [find] = lastPipelines.all(services);
  return find?.(services, project, sha);
}
