/** A Conan package for each user, named as they are: with a recipe and what it makes, with revisions and without. */
import type { Samples } from '../../../../test/support/samples.ts';

const RECIPE = '1'.repeat(32);
const MADE = '2'.repeat(32);

const conan = ({ project }: { project: number }) => `package_type = 'conan' and project_id = ${project}`;

/** The parameters of a package of its own. */
const packageAt = (project: number, offset: number) => ({
  package_name: `select name from packages where ${conan({ project })} order by id offset ${offset} limit 1`,
  package_channel: `select 'stable'`,
});

const files = (recipe: string, reference: string, made: string, names: readonly string[]) =>
  names.map((name) => `('${recipe}', '${reference}', '${made}', '${name}')`);
const package_ = ['conaninfo.txt', 'conanmanifest.txt', 'conan_package.tgz'];
const all = [
  ...files(RECIPE, '', '', ['conanfile.py', 'conanmanifest.txt']),
  ...files(RECIPE, 'aa', MADE, package_),
  ...files(RECIPE, 'bb', MADE, package_),
  ...files('0', '', '', ['conanfile.py', 'conanmanifest.txt']),
  ...files('0', 'aa', '0', package_),
];

const ofReference = 'conans/:package_name/:package_version/:package_username/:package_channel';
const v2 = `/projects/:id/packages/conan/v2/${ofReference}`;
const ofRecipe = `${v2}/revisions/:recipe_revision`;
const ofPackage = `${ofRecipe}/packages/:conan_package_reference`;
const levels = ['/projects/:id/packages/conan/v1', '/packages/conan/v1'];
const asked = { body: '{"conanmanifest.txt": 7}' };

export const samples: Samples = {
  after: ['packages'],
  rows: ({ project }) => `
    insert into packages (project_id, package_type, name, version, qualifier, creator_id, created_at, updated_at)
      select ${project}, 'conan', username, '1.0.0', (select replace(n.full_path || '/' || p.path, '/', '+') from projects p
        join namespaces n on n.id = p.namespace_id where p.id = ${project}) || '/stable', id, now(), now() from person order by id;
    insert into package_files (package_id, file_name, sha256, size, md5, sha1, metadata, created_at)
      select p.id, f.name, (select sha256 from blobs order by sha256 limit 1), 7, '', '', jsonb_build_object(
        'recipe_revision', f.recipe, 'reference', f.reference, 'package_revision', f.made, 'info', '{}'::jsonb), now()
      from packages p, (values ${all.join(', ')}) as f (recipe, reference, made, name)
      where p.package_type = 'conan' order by p.id`,
  objects: {
    'conans/:package_name': { table: 'packages', column: 'name', where: conan },
    'files/:package_name': { table: 'packages', column: 'name', where: conan },
    ':package_version/:package_username': {
      table: 'packages',
      column: `split_part(qualifier, '/', 1)`,
      where: conan,
    },
    ':package_username/:package_channel': { value: 'stable' },
    'revisions/:recipe_revision': { value: RECIPE },
    ':package_channel/:recipe_revision': { value: '0' },
    'packages/:conan_package_reference': { value: 'aa' },
    'package/:conan_package_reference': { value: 'aa' },
    'revisions/:package_revision': { value: MADE },
    ':conan_package_reference/:package_revision': { value: '0' },
    'files/:file_name': { value: 'conanmanifest.txt' },
    'export/:file_name': { value: 'conanmanifest.txt' },
    ':package_revision/:file_name': { value: 'conanmanifest.txt' },
  },
  objectForDelete: ({ project }) => ({
    [`${ofPackage}/revisions/:package_revision`]: { at: packageAt(project, 0) },
    [ofPackage]: { at: { ...packageAt(project, 0), conan_package_reference: `select 'bb'` } },
    [ofRecipe]: { at: packageAt(project, 0) },
    [v2]: { at: packageAt(project, 1) },
    [`${levels[0]}/${ofReference}`]: { at: packageAt(project, 2) },
    [`${levels[1]}/${ofReference}`]: { at: packageAt(project, 3) },
  }),
  requests: () =>
    Object.fromEntries(
      levels.flatMap((level) => [
        [`POST ${level}/${ofReference}/upload_urls`, asked],
        [`POST ${level}/${ofReference}/packages/:conan_package_reference/upload_urls`, asked],
      ]),
    ),
};
