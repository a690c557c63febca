/** Imports a group, with the groups below it and without projects: all of them become visible by one transaction. */

import { lockNamespace } from '../../../kernel/namespaces/path-actions.ts';
import type { NamespaceRow } from '../../../kernel/namespaces/rows.ts';
import { isStorable } from '../../../platform/characters.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { insertGroup } from '../../namespaces/index.ts';
import { countWrite, groupWiki } from '../../repositories/index.ts';
import { BadArchive, jsonOfFile, linesOfFile, type Unpacked, type UnpackedFile } from '../archive/unpack.ts';
import type { Owner } from '../relations/export-queries.ts';
import { groupRelations } from '../relations/group-relations.ts';
import { countGroup } from '../relations/insert-actions.ts';
import { commitImport, completeGroup, keepFailures, keepGroupWiki } from './actions.ts';
import { type ImportRow, optionsOf } from './queries.ts';
import { readRelations } from './read-relations.ts';
import type { ImportServices, Report } from './report.ts';
import { withPrepared } from './repositories.ts';
import { findUsers, type ImportUsers } from './users.ts';

const MAX_GROUPS = 1_000;

/** A group of the archive, and the one that it is in there. */
type ArchivedGroup = { id: number; parent: number | undefined; attributes: ReturnType<typeof attributesOf> };

/** All that is read of them: the groups of an archive are in memory at once. */
const attributesOf = ({ path, name, description, visibility_level }: Record<string, unknown>) => ({
  path: textOf(path, 255),
  name: textOf(name, 255),
  description: textOf(description, 2_000),
  visibility_level: Number(visibility_level),
});

async function readGroups({ files }: Unpacked): Promise<ArchivedGroup[]> {
  const list = files.get('tree/groups/_all.ndjson');
  if (!list) throw new BadArchive('The archive has no tree/groups/_all.ndjson: it is no export of a group.');
  const groups: ArchivedGroup[] = [];
  for await (const line of linesOfFile(list)) {
    const id = 'text' in line ? Number(line.text) : Number.NaN;
    const file = files.get(`tree/groups/${id}.json`);
    if (!Number.isSafeInteger(id) || !file) continue;
    if (groups.length >= MAX_GROUPS) throw new BadArchive(`The archive has more than ${MAX_GROUPS} groups.`);
    const attributes = await jsonOfFile(file, `tree/groups/${id}.json`);
    const parent = typeof attributes.parent_id === 'number' ? attributes.parent_id : undefined;
    groups.push({
      ...{ id, parent: groups.length === 0 ? undefined : parent },
      attributes: attributesOf(attributes),
    });
  }
  if (groups.length === 0) throw new BadArchive('The archive has no group.');
  return groups;
}

const textOf = (value: unknown, maximum: number): string =>
  typeof value === 'string' && value.length <= maximum && isStorable(value) ? value : '';

const isPath = (path: string): boolean =>
  /^[a-zA-Z0-9_][\w.-]{0,254}$/.test(path) && !/\.(?:git|atom)$/.test(path);

const levels = [0, 10, 20];
const visibilityOf = (group: ArchivedGroup | undefined, most: number): number => {
  const level = group?.attributes.visibility_level ?? 0;
  return Math.min(levels.includes(level) ? level : 0, most);
};

/** The rows of the groups by their ids in the archive. What is inside of itself, or of nothing, is left out. */
async function makeGroups(
  tx: Db,
  root: NamespaceRow,
  groups: readonly ArchivedGroup[],
  most: number,
  report: Report,
): Promise<Map<number, number>> {
  const made = new Map<number, NamespaceRow>();
  const [first, ...below] = groups;
  if (first) made.set(first.id, root);
  for (const group of below) {
    const { id, parent, attributes } = group;
    const inside = parent === undefined ? undefined : made.get(parent);
    const { path, description } = attributes;
    const name = attributes.name || path;
    if (!inside || !isPath(path) || made.has(id)) {
      report.fail({ relation: 'groups', line: null, message: `${id} has no path, or is in no group` });
      continue;
    }
    try {
      const visibility = visibilityOf(group, Math.min(most, inside.visibility));
      const row = await inTransaction(tx, (part) =>
        insertGroup(part, inside, { name, path, description, visibility, avatar: null, settings: {} }),
      );
      const whole = await lockNamespace(tx, row.id);
      if (whole) made.set(id, whole);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
      report.fail({ relation: 'groups', line: null, message: `${path} cannot be made here` });
    }
  }
  return new Map([...made].map(([id, { id: here }]) => [id, here]));
}

async function importWiki(services: ImportServices, id: number, bundle: UnpackedFile): Promise<void> {
  const { background } = services.database;
  await keepGroupWiki(background, id);
  await withPrepared(services, groupWiki(id), bundle, undefined, async (prepared) => {
    await prepared?.place();
    await countWrite(background, groupWiki(id));
  });
}

export async function importGroups(
  services: ImportServices,
  row: ImportRow,
  rootId: number,
  unpacked: Unpacked,
  report: Report,
): Promise<void> {
  const { background } = services.database;
  const { by_admin: byAdmin, visibility: most = 0, committed, withoutMembers } = optionsOf(row);
  // All but wikis are there.
  if (committed) return;
  const groups = await readGroups(unpacked);
  const files = ({ id }: ArchivedGroup, name: string) =>
    unpacked.files.get(`tree/groups/${id}/${name}.ndjson`);
  const people = groups.flatMap((group) => [files(group, 'user_contributions'), files(group, 'members')]);
  const users: ImportUsers = await findUsers(background, people, byAdmin);
  const ids = await inTransaction(background, async (tx) => {
    const root = await lockNamespace(tx, rootId);
    if (!root) throw new BadArchive('The group was deleted.');
    const visibility = visibilityOf(groups[0], most);
    await completeGroup(tx, rootId, {
      visibility,
      description: groups[0]?.attributes.description ?? '',
    });
    const made = await makeGroups(tx, { ...root, visibility }, groups, most, report);
    for (const group of groups) {
      const id = made.get(group.id);
      if (id === undefined) continue;
      const owner: Owner = { column: 'namespace_id', id };
      const relations = withoutMembers
        ? groupRelations.filter(({ table }) => table !== 'members')
        : groupRelations;
      await readRelations(tx, relations, ({ name }) => files(group, name), {
        ...{ owner, importer: row.user_id ?? 0, users, rewrite: (text: string) => text },
        fail: report.fail,
        passOver: report.passOver,
      });
      await countGroup(tx, id);
    }
    await keepFailures(tx, row.id, report.failures);
    await commitImport(tx, row.id, []);
    return made;
  });
  for (const [id, here] of ids) {
    const bundle = unpacked.files.get(`groups/${id}.wiki.bundle`);
    if (bundle) await importWiki(services, here, bundle);
  }
}
