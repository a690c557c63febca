/** What npm's clients ask for, wherever the package is: documents, tags, and packages that they publish or deprecate. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, found, Reply } from '../../../kernel/api/endpoint.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { Failure, forbidden, notFound } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import {
  parseJson,
  parseJsonBody,
  parseUrlEncoded,
} from '../../../platform/http/parameters/raw-parameters.ts';
import { forwarded } from '../forwarding/forwarding.ts';
import type { Level } from '../forwarding/queries.ts';
import { npmAddress } from '../forwarding/rules.ts';
import { isVersion } from '../names/semver.ts';
import { publishFile, requirePublishable } from '../publishing/publish-actions.ts';
import { receiveText, withAttachment } from '../publishing/receive.ts';
import { onlyIn } from '../records/queries.ts';
import { deprecate, moveTag } from './actions.ts';
import { packageAddress, scopeOf, tagAddress } from './addresses.ts';
import { distTags, packageDocument } from './documents.ts';
import { isTakenBeside, selectHome, selectVersions } from './queries.ts';
import { deprecations, isName, missing, publication, refusal } from './rules.ts';
import { readProblem } from './tarball.ts';

const done = { ok: true };

type ReadContext = {
  db: Db;
  services: Needs<'baseUrl' | 'blobs'>;
  settings: ApplicationSettings;
  request: HttpRequest;
};

/** Clients that change a document read it with `write`: they send it back, and need no manifests for that. */
const isForWriting = ({ query }: HttpRequest): boolean => parseUrlEncoded(query).write === 'true';

export async function document(
  context: ReadContext,
  projects: ProjectIds,
  level: Level,
  name: string,
): Promise<Reply<Buffer>> {
  const { db, services, request } = context;
  const rows = await selectVersions(db, projects, name, { manifests: !isForWriting(request) });
  if (rows.length === 0) {
    const elsewhere = isName(name) && (await forwarded(context, 'npm', level, name, npmAddress(name)));
    if (elsewhere) return elsewhere;
    throw missing('Packages', 'Packages');
  }
  const root = `${services.baseUrl()}/api/v4/projects`;
  const text = packageDocument(
    name,
    rows,
    ({ project_id, file_name }) => `${root}/${project_id}/packages/npm/${name}/-/${file_name}`,
  );
  return new Reply(200, Buffer.from(text), { 'content-type': 'application/json' });
}

export async function tagsOf(
  { db }: { db: Db },
  projects: ProjectIds,
  path: string,
): Promise<Record<string, string>> {
  const { name, tag } = tagAddress(path);
  if (tag !== undefined) throw notFound();
  const rows = await selectVersions(db, projects, name, { manifests: false });
  if (rows.length === 0) throw missing('Packages', 'Packages');
  return distTags(rows);
}

/** One tag of an address; 404 for one that names none. */
export function oneTag(path: string): { name: string; tag: string } {
  const { name, tag } = tagAddress(path);
  return { name, tag: found(tag) };
}

const isDeprecating = ({ headers }: HttpRequest): boolean => headers['npm-command'] === 'deprecate';

type ProjectContext = Context<{ package_path: string }, AuthorizedProject, Caller>;

async function publish(context: ProjectContext, name: string): Promise<void> {
  const { subject } = context;
  const publishable = await requirePublishable(context, { type: 'npm', name });
  await withAttachment(context, 'npm', '.tgz', async (attachment) => {
    const { version, tag, fileName, manifest, integrity } = publication(name, attachment.json, attachment);
    const file = { name: fileName, metadata: { integrity } };
    const scope = scopeOf(name).toLowerCase();
    const problem = await readProblem(attachment.draft.path, { name, version });
    const wrong = problem !== undefined && {
      status: 'error' as const,
      statusMessage: `package.json mismatch: ${problem}`,
    };
    await publishFile(
      context,
      attachment,
      { ...publishable, version, metadata: { manifest }, ...wrong },
      file,
      async (tx, row) => {
        const root = subject.fullPath.split('/')[0] ?? '';
        const isTaken =
          !row.is_new || (scope === root.toLowerCase() && (await isTakenBeside(tx, subject, name, root)));
        if (isTaken) throw refusal('Package already exists.', 'forbidden');
        // Nobody installs what is wrong: the tag stays with what they have.
        if (!wrong) await moveTag(tx, row, tag);
      },
    );
  }).catch((error: unknown) => {
    const isLarge = error instanceof Failure && error.message === '400 Bad request - File is too large';
    throw isLarge ? refusal('File is too large.') : error;
  });
}

export async function put(context: ProjectContext): Promise<{ ok: boolean }> {
  const { db, subject, input, request } = context;
  const { name, file, revision } = packageAddress(input.package_path);
  if (file !== undefined) throw notFound();
  if (revision === undefined && !isDeprecating(request)) {
    await publish(context, name);
    return done;
  }
  if (!subject.may('delete_packages')) {
    request.bodyStream.resume();
    throw forbidden();
  }
  if (revision === undefined) {
    await deprecate(context, name, deprecations(parseJsonBody(await receiveText(request))));
    return done;
  }
  // A client that unpublishes a version says what is left, and removes the version by its tarball then.
  request.bodyStream.resume();
  if ((await selectHome(db, onlyIn(subject), name)) === undefined) throw missing('Package', 'Package');
  return done;
}

/** The version that a body names, which is a JSON text. */
export async function versionIn(request: HttpRequest): Promise<string> {
  const version = parseJson(await receiveText(request));
  if (typeof version === 'string' && isVersion(version)) return version;
  throw new Failure('bad_request', '400 Bad request - "Version" not given', { error: '"Version" not given' });
}
