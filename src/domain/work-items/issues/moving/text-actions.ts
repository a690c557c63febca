/** Rewrites texts for another project, or for a group: references get paths, uploaded files are copied. */
import { sql } from 'kysely';
import type { AuthorizedProject } from '../../../../kernel/access/find.ts';
import {
  isProject,
  parentColumns,
  type ResourceParent,
  reachOf,
} from '../../../../kernel/access/resource-parents.ts';
import { now } from '../../../../platform/clock.ts';
import { ahead, type Db } from '../../../../platform/db/database.ts';
import { randomHex } from '../../../../platform/secret.ts';
import { mapInTurns } from '../../../../platform/turns.ts';
import {
  type RelativeReference,
  relativeReferences,
  type UploadAddress,
  uploadAddresses,
  withAddresses,
  withPaths,
} from './moved-references.ts';

/** Rewrites the texts, in their order. */
export type MoveTexts = (texts: readonly string[]) => Promise<string[]>;

/** More files are not copied, and the texts link to the old ones. */
const MAX_UPLOADS = 500;

const key = ({ kind, name }: Pick<RelativeReference, 'kind' | 'name'>): string => `${kind} ${name}`;

/** The groups of `from` whose labels and milestones are not available in `to`. */
const lostGroups = (from: AuthorizedProject, to: ResourceParent): number[] => {
  const kept = new Set(reachOf(to).ancestorIds);
  return from.row.ancestor_ids.filter((id) => !kept.has(id));
};

/** The references to records in `from` that would not resolve to them in `to`, by one statement. */
async function selectNamed(
  tx: Db,
  from: AuthorizedProject,
  to: ResourceParent,
  references: readonly RelativeReference[],
): Promise<Set<string>> {
  const namesOf = (kind: RelativeReference['kind']) => [
    ...new Set(references.filter((each) => each.kind === kind).map(({ name }) => name)),
  ];
  const homed = sql`(project_id = ${from.id} or namespace_id = any(${lostGroups(from, to)}::bigint[]))`;
  const group = isProject(to) ? to.row.namespace_id : to.id;
  const { rows } = await sql<{ kind: RelativeReference['kind']; name: string }>`
    select 'issue' as kind, iid::text as name from issues
      where project_id = ${from.id} and iid = any(${namesOf('issue')}::bigint[])
    union select 'merge_request', iid::text from merge_requests
      where project_id = ${from.id} and iid = any(${namesOf('merge_request')}::bigint[])
    union select 'snippet', id::text from snippets
      where project_id = ${from.id} and id = any(${namesOf('snippet')}::bigint[])
    union select 'epic', iid::text from epics where namespace_id = ${from.row.namespace_id}
      and namespace_id <> ${group} and iid = any(${namesOf('epic')}::bigint[])
    union select 'label', x from labels, lateral (values (name), (id::text)) v(x)
      where ${homed} and x = any(${namesOf('label')}::text[])
    union select 'milestone', x from milestones, lateral (values (title), (case when project_id is not null then iid::text end)) v(x)
      where ${homed} and x = any(${namesOf('milestone')}::text[])`.execute(tx);
  return new Set(rows.map(key));
}

async function moveReferences(
  tx: Db,
  from: AuthorizedProject,
  to: ResourceParent,
  texts: readonly string[],
): Promise<string[]> {
  const found = await mapInTurns(texts, relativeReferences);
  const all = found.flat();
  if (all.length === 0) return [...texts];
  const named = await selectNamed(tx, from, to, all);
  const pathOf = (reference: RelativeReference): string | undefined => {
    if (!named.has(key(reference))) return undefined;
    return reference.kind === 'epic' ? from.row.namespace_full_path : from.fullPath;
  };
  return texts.map((text, at) => withPaths(text, found[at] ?? [], pathOf));
}

/** Copies the project's files with these secrets to the new parent; returns the new secrets. */
async function copyUploads(
  tx: Db,
  from: AuthorizedProject,
  to: ResourceParent,
  secrets: readonly string[],
): Promise<[old: string, fresh: string][]> {
  if (secrets.length === 0) return [];
  const uploads = await tx
    .selectFrom('uploads')
    .select(['secret', 'filename', 'size', 'sha256', 'uploader_id'])
    .where('project_id', '=', from.id)
    .where('secret', 'in', [...secrets])
    // Their bytes stay until the copies name them, too.
    .forKeyShare()
    .execute();
  const copied: [string, string][] = [];
  for (const { secret, ...upload } of uploads) {
    const fresh = randomHex(16);
    await ahead(tx)
      .insertInto('uploads')
      .values({ ...parentColumns(to), ...upload, secret: fresh, created_at: now() })
      .execute();
    copied.push([secret, fresh]);
  }
  return copied;
}

/** The rewriter of texts of `from` for `to`, inside a transaction; a file in several texts is copied once. */
export function textsMover(tx: Db, from: AuthorizedProject, to: ResourceParent): MoveTexts {
  if (isProject(to) && from.id === to.id) return (texts) => Promise.resolve([...texts]);
  const copies = new Map<string, string>();
  const isOurs = ({ projectId }: UploadAddress) => projectId === undefined || projectId === from.id;
  const addressOf = ({ secret, projectId }: UploadAddress): string => {
    const fresh = copies.get(secret);
    if (fresh === undefined) return `/-/project/${from.id}/uploads/${secret}`;
    // A short address belongs to a project.
    if (!isProject(to)) return `/-/group/${to.id}/uploads/${fresh}`;
    return `${projectId === undefined ? '' : `/-/project/${to.id}`}/uploads/${fresh}`;
  };
  return async (texts) => {
    const moved = await moveReferences(tx, from, to, texts);
    const found = await mapInTurns(moved, (text) => uploadAddresses(text).filter(isOurs));
    const wanted = new Set(found.flat().map(({ secret }) => secret));
    const missing = [...wanted].filter((secret) => !copies.has(secret)).slice(0, MAX_UPLOADS - copies.size);
    for (const [old, fresh] of await copyUploads(tx, from, to, missing)) copies.set(old, fresh);
    return moved.map((text, at) => withAddresses(text, found[at] ?? [], addressOf));
  };
}
