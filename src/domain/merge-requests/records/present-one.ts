/** One merge request as the response to a change. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import type { Context } from '../../../kernel/api/endpoint.ts';
import { notFound } from '../../../platform/failure.ts';
import { type MergeRequestRecord, presentMergeRequest, type SingleExtras } from './merge-request-records.ts';
import type { MergeRequestRow } from './merge-request-rows.ts';
import type { MergeRequestRelations } from './relation-queries.ts';

type Presenting = Pick<Context<unknown, unknown, Caller>, 'db' | 'services' | 'settings' | 'actor'>;

/** The record by itself; 404 when it was deleted meanwhile. */
export async function presentOne(
  context: Presenting,
  project: AuthorizedProject,
  row: MergeRequestRow,
  extras?: (relations: MergeRequestRelations) => SingleExtras,
): Promise<MergeRequestRecord> {
  const record = await presentMergeRequest(context, project, row, extras);
  if (!record) throw notFound();
  return record;
}
