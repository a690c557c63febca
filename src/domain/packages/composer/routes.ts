/** Composer packages: published from refs of projects, installed from groups (facts-packages: 1.7). */
import Type from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import { onGroupPackages, onPackages } from '../../../kernel/access/package-access.ts';
import { bytesOf, type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import { Failure, forbidden, notFound } from '../../../platform/failure.ts';
import { refuseLargeArchive, streamArchive } from '../../../platform/git/files/archive.ts';
import { fullRef, isRefName } from '../../../platform/git/names.ts';
import { peelToCommit } from '../../../platform/git/refs.ts';
import { entryType, findEntry } from '../../../platform/git/trees.ts';
import { dispositionHeader } from '../../../platform/http/disposition.ts';
import { exactlyOne, parameterRules } from '../../../platform/http/parameters/schema.ts';
import { readRepository, replyWithStream } from '../../repositories/index.ts';
import { publishWithoutFile, requirePublishable } from '../publishing/publish-actions.ts';
import { Created, created } from '../publishing/replies.ts';
import { noteFetch } from '../records/download.ts';
import { onlyIn } from '../records/queries.ts';
import { selectVersionAt, selectVersions } from './queries.ts';
import { descriptionOf, MAX_DESCRIPTION, nameIn, type Ref, versionOf, versionsDocument } from './rules.ts';

const project = '/projects/:id/packages/composer';
const group = '/group/:id/-/packages/composer';
const read = { method: 'GET', packageScope: 'read_package_registry', jobToken: true } as const;
const DESCRIPTION = 'composer.json';

/** The commit of a ref, and the description in it; 404 without such a ref, 422 without a description. */
async function readDescription(
  services: Needs<'repositories'>,
  subject: AuthorizedProject,
  ref: Ref,
): Promise<{ sha: string; text: string }> {
  const description = await readRepository(services, subject, async (git) => {
    const commit = isRefName(ref.name) ? await peelToCommit(git, fullRef(ref.kind, ref.name)) : undefined;
    if (!commit) return undefined;
    const entry = await findEntry(git, commit.tree, [DESCRIPTION]);
    const info = entry && entryType(entry) === 'blob' ? await git.info(entry.oid) : undefined;
    const wrong = (reason: string) => new Failure('unprocessable', `422 Unprocessable Entity - ${reason}`);
    if (!info) throw wrong(`there is no ${DESCRIPTION}`);
    if (info.size > MAX_DESCRIPTION) throw wrong(`${DESCRIPTION} is too large`);
    const object = await git.read(info.oid, info);
    return { sha: commit.oid, text: object?.content.toString('utf8') ?? '' };
  });
  return found(description, ref.kind === 'tag' ? 'Tag' : 'Branch');
}

const json = (text: string) => new Reply(200, Buffer.from(text), { 'content-type': 'application/json' });

export const composerEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: project,
    summary: 'Publishes a tag or a branch as a version of the package that its composer.json describes.',
    access: onPackages('publish_packages'),
    packageScope: 'write_package_registry',
    jobToken: true,
    also: [422],
    input: Type.Object(
      { tag: Type.Optional(Type.String()), branch: Type.Optional(Type.String()) },
      parameterRules(exactlyOne('tag', 'branch')),
    ),
    reply: Created,
    handle: async (context) => {
      const { services, subject, input } = context;
      // Who may not read the code opens it to nobody.
      if (!subject.may('read_code')) throw forbidden();
      const { tag, branch = '' } = input;
      const ref: Ref = tag === undefined ? { kind: 'branch', name: branch } : { kind: 'tag', name: tag };
      const { sha, text } = await readDescription(services, subject, ref);
      const { name, description } = descriptionOf(text);
      const version = versionOf(ref);
      const publishable = await requirePublishable(context, { type: 'composer', name });
      await publishWithoutFile(context, { ...publishable, version, metadata: { sha, description } });
      return created;
    },
  }),
  endpoint({
    ...read,
    path: `${group}/packages.json`,
    summary: 'Where Composer finds the packages of the projects below a group.',
    access: onGroupPackages(),
    reply: Type.Object({ packages: Type.Array(Type.String()), 'metadata-url': Type.String() }),
    handle: async ({ subject }) => ({
      packages: [],
      'metadata-url': `/api/v4/group/${subject.groupId}/-/packages/composer/p2/%package%.json`,
    }),
  }),
  endpoint({
    ...read,
    path: `${group}/p2/:package_path`,
    takesRest: true,
    summary: 'The versions of a Composer package of the projects below a group: `<vendor>/<name>.json`.',
    access: onGroupPackages(),
    input: Type.Object({ package_path: Type.String() }),
    reply: bytesOf('application/json'),
    handle: async ({ db, services, subject, input }) => {
      const name = nameIn(input.package_path, '.json');
      const versions = name === undefined ? [] : await selectVersions(db, subject.projects, name);
      // Programs ask every repository for every name: 401 would end an installation that needs no credential of this one.
      if (name === undefined || versions.length === 0) throw notFound('Package');
      return json(versionsDocument(services.baseUrl(), name, versions));
    },
  }),
  endpoint({
    ...read,
    path: `${project}/archives/:package_path`,
    takesRest: true,
    summary: 'The files of a published version of a Composer package: `<vendor>/<name>.zip`.',
    access: onPackages('read_packages'),
    also: [304, 422],
    input: Type.Object({
      package_path: Type.String(),
      sha: Type.String({ pattern: '^[0-9a-f]{40,64}$', description: 'The commit of the version.' }),
    }),
    reply: bytesOf('application/zip'),
    handle: async (context) => {
      const { db, services, subject, request, input } = context;
      const name = nameIn(input.package_path, '.zip');
      const { sha } = input;
      if (name === undefined) throw notFound('Package');
      const version = found(await selectVersionAt(db, onlyIn(subject), { name, sha }), 'Package');
      const commit = await readRepository(services, subject, async (git) => {
        const found = await peelToCommit(git, sha);
        if (found) await refuseLargeArchive(git, found.tree);
        return found;
      });
      found(commit, 'Commit');
      const prefix = `${name.replace('/', '-')}-${sha.slice(0, 8)}`;
      const { id: package_id, last_downloaded_at } = version;
      await noteFetch(context, { package_id, last_downloaded_at });
      return replyWithStream(services, subject, request, {
        identity: JSON.stringify([name, sha]),
        headers: {
          'content-type': 'application/zip',
          'content-disposition': dispositionHeader('attachment', `${prefix}.zip`),
        },
        make: (git) =>
          streamArchive(git.folder, { commit: sha, format: 'zip', prefix, path: '', exclude: [] }),
      });
    },
  }),
];
