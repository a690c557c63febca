/** Recipes of a project, their packages, and the revisions of both: what their files say, of which a revision has all it needs. */
import { type RawBuilder, sql } from 'kysely';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { FetchedFile, PackageRow } from '../records/queries.ts';
import { installable } from '../records/types.ts';
import {
  CONTENT,
  type FileLocation,
  INFO,
  type Info,
  MANIFEST,
  qualifierOf,
  RECIPE,
  type Reference,
  UNREVISED,
} from './rules.ts';

type Project = Pick<AuthorizedProject, 'id'>;

export type Revision = { revision: string; time: Date };
/** Which programs ask: those of version 1 see what has no revision, the others what has one. */
export type Protocol = 'v1' | 'v2';

/** Of one answer: it has them all. */
const MAX_REVISIONS = 1_000;
const MAX_FILES = 1_000;
const MAX_REFERENCES = 5_000;
const MAX_PACKAGES = 1_000;
const MAX_CHARACTERS = 16_777_216;

const key = { recipe: 'recipe_revision', reference: 'reference', package: 'package_revision' } as const;
/** As the index has it: what a file says of its place. */
const said = (file: string, what: keyof typeof key) => sql.raw(`(${file}.metadata ->> '${key[what]}')`);

const named = ({ id }: Project, reference: Reference): RawBuilder<unknown> => sql`
  p.project_id = ${id} and p.package_type = 'conan' and p.name = ${reference.name} and p.version = ${reference.version}
    and p.qualifier = ${qualifierOf(reference)} and p.status = any(${[...installable]}::text[])`;

const isAt = (file: string, { recipe_revision, reference, package_revision }: FileLocation) => sql`
  ${said(file, 'reference')} = ${reference} and ${said(file, 'recipe')} = ${recipe_revision}
    and ${said(file, 'package')} = ${package_revision}`;

const hasBeside = (manifest: string, condition: RawBuilder<unknown>) => sql`
  exists (select from package_files beside where beside.package_id = ${sql.raw(manifest)}.package_id
    and ${said('beside', 'reference')} = ${said(manifest, 'reference')}
    and ${said('beside', 'recipe')} = ${said(manifest, 'recipe')}
    and ${said('beside', 'package')} = ${said(manifest, 'package')} and ${condition})`;

/** Whether a file is the manifest of a recipe that is whole. Programs send it after the other files. */
const isWholeRecipe = (file: string) => sql`
  ${sql.raw(file)}.file_name = ${MANIFEST} and ${said(file, 'reference')} = ''
    and ${hasBeside(file, sql`beside.file_name = ${RECIPE}`)}`;

/** The same of a package; where its content did not come, programs send the manifest all the same. */
const isWholePackage = (file: string) => sql`
  ${sql.raw(file)}.file_name = ${MANIFEST} and ${said(file, 'reference')} <> ''
    and ${hasBeside(file, sql`beside.file_name = ${INFO}`)}
    and ${hasBeside(file, sql`starts_with(beside.file_name, ${CONTENT})`)}`;

const isOf = (file: string, protocol: Protocol) =>
  protocol === 'v1'
    ? sql`${said(file, 'recipe')} = ${UNREVISED}`
    : sql`${said(file, 'recipe')} <> ${UNREVISED}`;

/** The revisions of a recipe that are whole, what came last first. */
export async function selectRecipeRevisions(
  db: Db,
  project: Project,
  reference: Reference,
  most = MAX_REVISIONS,
): Promise<Revision[]> {
  const { rows } = await sql<Revision>`
    select ${said('m', 'recipe')} as revision, m.created_at as time from packages p join package_files m on m.package_id = p.id
    where ${named(project, reference)} and ${isOf('m', 'v2')} and ${isWholeRecipe('m')} order by m.id desc limit ${most}`.execute(
    db,
  );
  return rows;
}

/** The same of a package of a recipe. */
export async function selectPackageRevisions(
  db: Db,
  project: Project,
  of: Reference,
  { recipe_revision, reference }: FileLocation,
  most = MAX_REVISIONS,
): Promise<Revision[]> {
  const { rows } = await sql<Revision>`
    select ${said('m', 'package')} as revision, m.created_at as time from packages p join package_files m on m.package_id = p.id
    where ${named(project, of)} and ${said('m', 'reference')} = ${reference} and ${said('m', 'recipe')} = ${recipe_revision}
      and ${isWholePackage('m')} order by m.id desc limit ${most}`.execute(db);
  return rows;
}

/** The files of a revision. */
export async function selectFilesAt(
  db: Db,
  project: Project,
  reference: Reference,
  place: FileLocation,
): Promise<{ file_name: string; md5: Buffer }[]> {
  const { rows } = await sql<{ file_name: string; md5: Buffer }>`
    select f.file_name, f.md5 from packages p join package_files f on f.package_id = p.id
    where ${named(project, reference)} and ${isAt('f', place)} order by f.file_name limit ${MAX_FILES}`.execute(
    db,
  );
  return rows;
}

export async function selectFileAt(
  db: Db,
  project: Project,
  reference: Reference,
  place: FileLocation,
  fileName: string,
): Promise<FetchedFile | undefined> {
  const { rows } = await sql<FetchedFile>`
    select f.*, p.last_downloaded_at from packages p join package_files f on f.package_id = p.id
    where ${named(project, reference)} and ${isAt('f', place)} and f.file_name = ${fileName}
    order by f.id desc limit 1`.execute(db);
  return rows[0];
}

export type Search = {
  pattern: string | undefined;
  ignoresCase: boolean;
  protocol: Protocol;
  /** Those alone whose user is their project's path, under which the address of the instance has them. */
  ofInstance?: boolean;
};

/** The condition on projects that they have packages of Conan. */
export const withRecipes = sql`p.id in (select project_id from packages where package_type = 'conan')`;

const hasProjectAsUser = sql`exists (
  select from projects home join namespaces around on around.id = home.namespace_id
  where home.id = p.project_id
    and lower(split_part(p.qualifier, '/', 1)) = lower(replace(around.full_path || '/' || home.path, '/', '+')))`;

/** The packages with a whole recipe whose reference, or a beginning of it up to a mark, fits the pattern; the newest of them, in order. */
export async function searchRecipes(
  db: Db,
  projects: ProjectIds,
  { pattern, ignoresCase, protocol, ofInstance = false }: Search,
): Promise<Pick<PackageRow, 'name' | 'version' | 'qualifier'>[]> {
  const like = sql.raw(ignoresCase ? 'ilike' : 'like');
  const fits =
    pattern === undefined
      ? sql`true`
      : sql`exists (select from (values (p.name), (p.name || '/' || p.version),
          (p.name || '/' || p.version || '@' || split_part(p.qualifier, '/', 1)),
          (p.name || '/' || p.version || '@' || p.qualifier)) as beginnings (text) where text ${like} ${pattern})`;
  const { rows } = await sql<Pick<PackageRow, 'name' | 'version' | 'qualifier'>>`
    with newest as (
      select p.id, p.name, p.version, p.qualifier from packages p
      where p.project_id in ${projects} and p.package_type = 'conan' and p.status = any(${[...installable]}::text[])
        and ${fits} and ${ofInstance ? hasProjectAsUser : sql`true`} and exists (select from package_files m where m.package_id = p.id and ${isOf('m', protocol)} and ${isWholeRecipe('m')})
      order by p.id desc limit ${MAX_REFERENCES})
    select distinct name, version, qualifier from newest order by name, version, qualifier`.execute(db);
  return rows;
}

export type FoundPackage = { reference: string; info: Info };

/** The packages of a recipe that are whole, each by its last revision. */
export async function selectPackages(
  db: Db,
  project: Project,
  reference: Reference,
  recipe_revision: string,
): Promise<FoundPackage[]> {
  const { rows } = await sql<FoundPackage>`
    with newest as (
      select distinct on (${said('m', 'reference')}) m.package_id, ${said('m', 'reference')} as reference,
        ${said('m', 'package')} as package_revision
      from packages p join package_files m on m.package_id = p.id
      where ${named(project, reference)} and ${said('m', 'recipe')} = ${recipe_revision} and ${isWholePackage('m')}
      order by ${said('m', 'reference')}, m.id desc limit ${MAX_PACKAGES}),
    found as (
      select n.reference, f.metadata -> 'info' as info,
        sum(length((f.metadata -> 'info')::text)) over (order by n.reference) as characters
      from newest n join package_files f on f.package_id = n.package_id and ${said('f', 'reference')} = n.reference
        and ${said('f', 'recipe')} = ${recipe_revision} and ${said('f', 'package')} = n.package_revision and f.file_name = ${INFO})
    select reference, info from found where characters <= ${MAX_CHARACTERS} order by reference`.execute(db);
  return rows;
}

/** Whether the package has the recipe, with all its files. */
export async function hasRecipe(
  db: Db,
  { id }: Pick<PackageRow, 'id'>,
  recipe_revision: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from package_files m where m.package_id = ${id} and ${said('m', 'recipe')} = ${recipe_revision} and ${isWholeRecipe('m')}
    limit 1`.execute(db);
  return rows.length > 0;
}

/** Locked until the transaction ends. */
export async function lockReference(
  tx: Db,
  project: Project,
  reference: Reference,
): Promise<PackageRow | undefined> {
  const { rows } =
    await sql<PackageRow>`select p.* from packages p where ${named(project, reference)} for update`.execute(
      tx,
    );
  return rows[0];
}

/** A part of a package: a recipe with its packages, these alone, one of them, or one revision of that. */
export type Part = {
  recipe_revision: string;
  packagesAlone?: true;
  reference?: string;
  package_revision?: string;
};

/** The condition on files `f`. */
export const isPart = (
  { id }: Pick<PackageRow, 'id'>,
  { recipe_revision, packagesAlone, reference, package_revision }: Part,
): RawBuilder<unknown> =>
  sql.join(
    [
      sql`f.package_id = ${id} and ${said('f', 'recipe')} = ${recipe_revision}`,
      ...(packagesAlone ? [sql`${said('f', 'reference')} <> ''`] : []),
      ...(reference === undefined ? [] : [sql`${said('f', 'reference')} = ${reference}`]),
      ...(package_revision === undefined ? [] : [sql`${said('f', 'package')} = ${package_revision}`]),
    ],
    sql` and `,
  );

export const isFile = ({ id }: Pick<PackageRow, 'id'>, place: FileLocation): RawBuilder<unknown> =>
  sql`f.package_id = ${id} and ${isAt('f', place)}`;
