/**
 * Imports a project. All that is in the database becomes visible by one transaction, with the repository; a process that dies
 * before that leaves nothing, and the job begins anew.
 */
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { keepTopics } from '../../../kernel/namespaces/topic-actions.ts';
import { instanceLimit, selectUsage } from '../../../kernel/repository-size/actions.ts';
import { judge, newChangesRefusal } from '../../../kernel/repository-size/rules.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { BadBundle } from '../../../platform/git/copies/bundle.ts';
import { BadCopy } from '../../../platform/git/copies/check.ts';
import { findUserOfProject } from '../../conversation/index.ts';
import { settingFollowUps } from '../../namespaces/index.ts';
import {
  countWrite,
  projectRepository,
  projectWiki,
  protectFirstBranch,
  snippetRepository,
} from '../../repositories/index.ts';
import { BadArchive, jsonOfFile, type Unpacked, type UnpackedFile } from '../archive/unpack.ts';
import type { Owner } from '../relations/export-queries.ts';
import { clearOwner, countProject, selectNumbered } from '../relations/insert-actions.ts';
import { projectRelations } from '../relations/project-relations.ts';
import type { ReadRecord } from '../relations/read-line.ts';
import type { Relation } from '../relations/relation.ts';
import {
  allowPauses,
  commitImport,
  completeProject,
  completeSnippet,
  holdProject,
  keepFailures,
  removeSnippet,
} from './actions.ts';
import {
  importAvatar,
  importLargeObjects,
  importUploads,
  largeObjectName,
  newSecrets,
  rewriter,
} from './files.ts';
import { type ProjectAttributes, projectAttributes } from './project-attributes.ts';
import { type ImportRow, optionsOf, selectOpenTargets, type WaitingSnippet } from './queries.ts';
import { readRelations } from './read-relations.ts';
import type { ImportServices, Report } from './report.ts';
import { withPrepared } from './repositories.ts';
import { findUsers, type ImportUsers } from './users.ts';

const fileOf =
  ({ files }: Unpacked) =>
  (relation: Pick<Relation, 'name'>): UnpackedFile | undefined =>
    files.get(`tree/project/${relation.name}.ndjson`);

const known = new Set(['user_contributions', ...projectRelations.map(({ name }) => name)]);

/** Relations that this version does not read. */
const unread = ({ files }: Unpacked): string[] =>
  [...files.keys()].flatMap((name) => {
    const [, relation] = /^tree\/project\/(\w+)\.ndjson$/.exec(name) ?? [];
    return relation === undefined || known.has(relation) ? [] : [relation];
  });

const gone = (): BadArchive => new BadArchive('The project was deleted.');

/** The entry with the repository of a snippet. */
function bundleOf({ files }: Unpacked, { row }: ReadRecord): string | undefined {
  const name = typeof row.bundle === 'string' ? `snippets/${row.bundle}.bundle` : '';
  return files.has(name) ? name : undefined;
}

/** What snippets need besides their lines: a repository, which a bundle has. */
function snippetsOf(unpacked: Unpacked, storage: string) {
  const waiting: WaitingSnippet[] = [];
  return {
    waiting,
    refuse: ({ table }: Relation, record: ReadRecord): string | undefined =>
      table === 'snippets' && !bundleOf(unpacked, record) ? 'has no repository' : undefined,
    around({ table }: Relation, records: readonly ReadRecord[]) {
      if (table !== 'snippets') return undefined;
      const bundles = records.map((record) => bundleOf(unpacked, record));
      for (const { row } of records) {
        delete row.bundle;
        Object.assign(row, { repository_storage: storage, ready: false });
      }
      return (ids: readonly number[]) => {
        for (const [index, id] of ids.entries()) {
          const bundle = bundles[index];
          const row = records[index]?.row;
          if (bundle && row)
            waiting.push({ id, bundle, branch: String(row.default_branch), files: row.files as string[] });
        }
      };
    },
  };
}

/** Gives snippets their repositories: they are shown from then on. */
async function fillSnippets(
  services: ImportServices,
  unpacked: Unpacked,
  waiting: readonly WaitingSnippet[],
  report: Report,
): Promise<void> {
  const { background } = services.database;
  for (const { id, bundle, branch, files } of waiting) {
    const key = snippetRepository(id);
    try {
      await withPrepared(services, key, unpacked.files.get(bundle), branch, async (prepared) => {
        await prepared?.place();
        await countWrite(background, key);
        await completeSnippet(background, id, prepared?.branch ?? branch, files);
      });
    } catch (error) {
      if (!(error instanceof BadBundle) && !(error instanceof BadCopy)) throw error;
      report.fail({
        relation: 'snippets',
        line: null,
        message: `the repository could not be read: ${error.message}`,
      });
      await removeSnippet(background, id);
    }
  }
}

type Importing = {
  services: ImportServices;
  row: ImportRow;
  owner: Owner;
  unpacked: Unpacked;
  report: Report;
  users: ImportUsers;
  secrets: ReadonlyMap<string, string>;
};

/** The rows of the project, in the transaction that shows them. */
async function importRows(
  tx: Db,
  { services, row, owner, unpacked, report, users, secrets }: Importing,
  attributes: ProjectAttributes,
  branch: string | undefined,
): Promise<WaitingSnippet[]> {
  await allowPauses(tx);
  const held = await holdProject(tx, owner.id);
  if (!held) throw gone();
  const { overwrite = false } = optionsOf(row);
  if (branch !== undefined && !held.empty && !overwrite)
    throw new BadArchive('The project has a repository by now: somebody pushed to it.');
  const importer = row.user_id ?? 0;
  if (overwrite) await clearOwner(tx, owner);
  await importUploads(services, tx, { projectId: owner.id, userId: importer }, unpacked, secrets, report);
  await importLargeObjects(services, tx, owner.id, unpacked, report);
  const snippets = snippetsOf(unpacked, held.storage);
  await readRelations(tx, projectRelations, fileOf(unpacked), {
    ...{
      owner,
      importer,
      users,
      rewrite: rewriter(secrets),
      around: snippets.around,
      refuse: snippets.refuse,
    },
    fail: report.fail,
    passOver: report.passOver,
  });
  await countProject(tx, owner.id);
  if (branch !== undefined && !unpacked.files.has('tree/project/protected_branches.ndjson'))
    await protectFirstBranch(tx, owner.id, branch, await services.settings.read());
  await completeProject(tx, owner.id, {
    ...attributes,
    topics: await keepTopics(tx, attributes.topics),
    branch,
    avatar: await importAvatar(services, tx, unpacked, report),
  });
  for (const followUp of settingFollowUps.all(services)) await followUp(tx, owner.id, attributes.settings);
  await announce(tx, { fact: { name: 'project_updated', payload: { project_id: owner.id } } });
  for (const into of await selectOpenTargets(tx, owner.id)) {
    const payload = { project_id: owner.id, branch: into, user_id: null };
    await announce(tx, { fact: { name: 'merge_requests_unjudged', payload } });
  }
  return snippets.waiting;
}

/** What of the archive counts against the limit of the repository. */
const bytesOfCode = ({ files }: Unpacked): number =>
  [...files].reduce(
    (sum, [name, { size }]) => (name === 'project.bundle' || largeObjectName.test(name) ? sum + size : sum),
    0,
  );

async function importWhole(importing: Importing): Promise<void> {
  const { services, row, owner, unpacked, report } = importing;
  const { background } = services.database;
  const file = unpacked.files.get('tree/project.json');
  if (!file) throw new BadArchive('The archive has no tree/project.json: it is no export of a project.');
  for (const relation of unread(unpacked)) report.passOver(relation);
  const { override, visibility = 0, committed } = optionsOf(row);
  const failed = report.failures.length;
  if (committed) {
    await fillSnippets(services, unpacked, committed.snippets, report);
    await keepFailures(services.database.background, row.id, report.failures.slice(failed));
    return;
  }
  const usage = await selectUsage(
    background,
    owner.id,
    instanceLimit(services, await services.settings.read()),
  );
  if (judge(usage, bytesOfCode(unpacked)) !== 'fits') throw new BadArchive(newChangesRefusal(usage));
  const attributes = projectAttributes(await jsonOfFile(file, 'tree/project.json'), {
    override,
    mostVisible: visibility,
  });
  const wiki = projectWiki(owner.id);
  const repository = projectRepository(owner.id);
  const waiting = await withPrepared(
    services,
    wiki,
    unpacked.files.get('project.wiki.bundle'),
    undefined,
    (wikis) =>
      withPrepared(
        services,
        repository,
        unpacked.files.get('project.bundle'),
        attributes.branch,
        (prepared) =>
          inTransaction(background, async (tx) => {
            const snippets = await importRows(tx, importing, attributes, prepared?.branch);
            await keepFailures(tx, row.id, report.failures);
            await commitImport(tx, row.id, snippets);
            if (prepared) await countWrite(tx, repository);
            if (wikis) await countWrite(tx, wiki);
            // Last, and not undone: what fails from here on is the commit alone.
            await Promise.all([prepared?.place(), wikis?.place()]);
            return snippets;
          }),
      ),
  );
  const kept = report.failures.length;
  await fillSnippets(services, unpacked, waiting, report);
  await keepFailures(background, row.id, report.failures.slice(kept));
}

/** One relation alone: what has numbers that are there already is a failure for itself. */
async function importRelation({
  services,
  row,
  owner,
  unpacked,
  report,
  users,
  secrets,
}: Importing): Promise<void> {
  const relations = projectRelations.filter(({ name }) => name === row.relation);
  const [relation] = relations;
  if (!relation || !fileOf(unpacked)(relation))
    throw new BadArchive(`The archive has no tree/project/${row.relation}.ndjson.`);
  await inTransaction(services.database.background, async (tx) => {
    if (!(await holdProject(tx, owner.id))) throw gone();
    await readRelations(tx, relations, fileOf(unpacked), {
      ...{ owner, importer: row.user_id ?? 0, users, rewrite: rewriter(secrets) },
      fail: report.fail,
      passOver: report.passOver,
      known: { merge_request: await selectNumbered(tx, 'merge_requests', owner) },
    });
    await countProject(tx, owner.id);
    await keepFailures(tx, row.id, report.failures);
  });
}

/** Imports wait for each other, and the role that one was asked for with may be gone by then. */
async function requireRole(
  services: ImportServices,
  { user_id, relation, options }: ImportRow,
  projectId: number,
): Promise<void> {
  const { overwrite, committed, by_admin } = optionsOf({ options });
  const mode = { admin_mode: by_admin };
  const user = user_id === null ? undefined : await findUserOfProject(services, projectId, user_id, mode);
  const ability = overwrite ? 'delete_project' : relation === null ? 'read_project' : 'import_relations';
  if (!committed && !user?.project.may(ability))
    throw new BadArchive('Whoever asked for the import may not do so any more.');
}

export async function importProject(
  services: ImportServices,
  row: ImportRow,
  projectId: number,
  unpacked: Unpacked,
  report: Report,
): Promise<void> {
  const { background } = services.database;
  const owner: Owner = { column: 'project_id', id: projectId };
  await requireRole(services, row, projectId);
  const file = fileOf(unpacked);
  const people = [file({ name: 'user_contributions' }), file({ name: 'project_members' })];
  const users = await findUsers(background, people, optionsOf(row).by_admin);
  const secrets = await newSecrets(background, projectId, unpacked);
  const importing = { services, row, owner, unpacked, report, users, secrets };
  await (row.relation === null ? importWhole(importing) : importRelation(importing));
}
