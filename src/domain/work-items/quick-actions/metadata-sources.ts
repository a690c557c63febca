/** Issues and merge requests whose labels and milestone a quick action copies: the owner of each registers it. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { Registry } from '../../../kernel/registry.ts';
import { Failure } from '../../../platform/failure.ts';
import type { ActorContext } from '../../conversation/index.ts';
import { labelsOf } from '../../planning/index.ts';

export type MetadataSource = {
  /** The sign of references to it in arguments. */
  sign: '#' | '!';
  kind: 'issue' | 'merge_request';
  /** The one of this number that the actor reads; fails without one. */
  find(
    context: ActorContext,
    project: AuthorizedProject,
    iid: number,
  ): Promise<{ id: number; milestone_id: number | null }>;
};

export const metadataSources = new Registry<MetadataSource>();

export type Metadata = { labels: readonly string[]; milestoneId: number | null };

const reference = /^([#!])(\d{1,9})$/;

/** Of the one that the argument names in the project; undefined where it names none that the actor reads. */
export async function findMetadata(
  context: ActorContext,
  project: AuthorizedProject,
  argument: string,
): Promise<Metadata | undefined> {
  const [, sign, iid] = reference.exec(argument) ?? [];
  const source = metadataSources.all(context.services).find((each) => each.sign === sign);
  const found = await source?.find(context, project, Number(iid)).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'not_found') return undefined;
    throw error;
  });
  if (!source || !found) return undefined;
  const labels = (await labelsOf(context.db, source.kind, [found.id])).get(found.id) ?? [];
  return { labels: labels.map(({ name }) => name), milestoneId: found.milestone_id };
}
