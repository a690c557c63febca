/** What programs of Conan are told (facts-packages: 1.9). */
import Type, { type Static } from 'typebox';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import { conanReference } from '../records/present.ts';
import type { PackageRow } from '../records/queries.ts';
import type { FoundPackage, Revision } from './queries.ts';
import { type FileLocation, type Info, qualifierOf, type Reference, timeText } from './rules.ts';

export const OneRevision = Type.Object({ revision: Type.String(), time: Type.String() });
export const Revisions = Type.Object({ reference: Type.String(), revisions: Type.Array(OneRevision) });
export const References = Type.Object({ results: Type.Array(Type.String()) });
export const Files = Type.Object({
  files: Type.Record(Type.String(), Type.Object({}), {
    description: 'By their names; nothing is said of them.',
  }),
});

const pairs = Type.Record(Type.String(), Type.String());
const list = Type.Array(Type.String());
/** Without a property for what its conaninfo.txt does not have. */
const PackageInfo = Type.Object({
  settings: Type.Optional(pairs),
  settings_target: Type.Optional(pairs),
  options: Type.Optional(pairs),
  conf: Type.Optional(pairs),
  requires: Type.Optional(list),
  build_requires: Type.Optional(list),
  python_requires: Type.Optional(list),
  config_version: Type.Optional(list),
  recipe_hash: Type.Optional(Type.String({ description: 'Of packages of Conan 1.' })),
});
export const Packages = Type.Record(Type.String(), PackageInfo);

export const UnrevisedPackages = Type.Record(
  Type.String(),
  Type.Object({
    settings: pairs,
    options: pairs,
    requires: Type.Record(Type.String(), Type.Null()),
    recipe_hash: nullable(Type.String()),
  }),
);

/** MD5s or addresses, by the names of files. */
export const ByFile = Type.Record(Type.String(), Type.String());

export const Removed = Type.Object({
  id: Type.Integer(),
  project_id: Type.Integer(),
  created_at: Type.String(),
  updated_at: Type.String(),
  name: Type.String(),
  version: nullable(Type.String()),
  package_type: Type.String(),
  creator_id: nullable(Type.Integer()),
  status: Type.String(),
});

export const presentRevision = ({ revision, time }: Revision): Static<typeof OneRevision> => ({
  revision,
  time: timeText(time),
});

/** The reference as programs write it: of a package with that, too. */
export function presentRevisions(
  reference: Reference,
  revisions: readonly Revision[],
  of?: Pick<FileLocation, 'recipe_revision' | 'reference'>,
): Static<typeof Revisions> {
  const text = conanReference({ ...reference, qualifier: qualifierOf(reference) });
  return {
    reference: of ? `${text}#${of.recipe_revision}:${of.reference}` : text,
    revisions: revisions.map(presentRevision),
  };
}

export const presentFiles = (files: readonly { file_name: string }[]): Static<typeof Files> => ({
  files: Object.fromEntries(files.map(({ file_name }) => [file_name, {}])),
});

export const presentPackages = <Shown>(
  found: readonly FoundPackage[],
  show: (info: Info) => Shown,
): Record<string, Shown> => Object.fromEntries(found.map(({ reference, info }) => [reference, show(info)]));

export const presentRemoved = (row: PackageRow): Static<typeof Removed> => ({
  id: row.id,
  project_id: row.project_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  name: row.name,
  version: row.version,
  package_type: row.package_type,
  creator_id: row.creator_id,
  status: row.status,
});
