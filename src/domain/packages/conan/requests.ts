/** What both versions of the protocol of Conan do with their requests. */
import type { Readable } from 'node:stream';
import Type, { type Static } from 'typebox';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { ProjectIds } from '../../../kernel/access/package-access.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, found, Reply } from '../../../kernel/api/endpoint.ts';
import { presentedPackageToken } from '../../../kernel/identity/credentials.ts';
import { programPass, tokenOfPass } from '../../../kernel/identity/passes.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { badRequest, unauthenticated } from '../../../platform/failure.ts';
import { requirePublishable } from '../publishing/publish-actions.ts';
import { withUpload } from '../publishing/receive.ts';
import { type PublishedFile, presentPublished } from '../publishing/replies.ts';
import { replyWithFile } from '../records/download.ts';
import { conanReference } from '../records/present.ts';
import { publishAt } from './actions.ts';
import { type Search, searchRecipes, selectFileAt } from './queries.ts';
import { type FileLocation, likePattern, type Reference, requireFile } from './rules.ts';

type Visiting = Pick<Context<unknown, unknown, Caller>, 'actor' | 'deployToken'>;

export function requireVisitor({ actor, deployToken }: Visiting): void {
  if (!actor && !deployToken) throw unauthenticated();
}

export const text = (content: string, headers: Record<string, string> = {}) =>
  new Reply(200, Buffer.from(content), { 'content-type': 'text/plain; charset=utf-8', ...headers });

/** A pass for the token with which the program has come. */
export function issuePass({
  services,
  request,
}: Pick<Context<unknown, unknown, Caller>, 'services' | 'request'>) {
  const token = presentedPackageToken(request.headers)?.token;
  if (token === undefined) throw unauthenticated();
  const time = now();
  const pass = programPass(services.secretKey, tokenOfPass(services.secretKey, token, time) ?? token, time);
  return text(pass, { 'cache-control': 'no-store' });
}

type ProjectContext = Context<unknown, AuthorizedProject, Caller>;
type OneFile = { reference: Reference; place: FileLocation; fileName: string };

export async function download(context: ProjectContext, file: OneFile): Promise<Reply<Readable>> {
  requireFile(file.place, file.fileName);
  const { db, subject } = context;
  const row = await selectFileAt(db, subject, file.reference, file.place, file.fileName);
  return replyWithFile(context, found(row, 'Package'));
}

/** Programs ask without the bytes whether they must send them: nothing comes of that. A conaninfo.txt may be empty. */
export async function take(
  context: ProjectContext,
  file: OneFile,
): Promise<Static<typeof PublishedFile> | Reply<never>> {
  requireFile(file.place, file.fileName);
  const { services, subject, request } = context;
  const publishable = await requirePublishable(context, { type: 'conan', name: file.reference.name });
  return withUpload(context, 'conan', {}, async (upload) => {
    if (upload.size === 0 && request.headers['x-checksum-deploy'] !== undefined) return new Reply<never>(200);
    const sent = request.headers['x-checksum-sha1'];
    if (sent !== undefined && String(sent).toLowerCase() !== upload.digests.get('sha1')?.toString('hex'))
      throw badRequest('X-Checksum-Sha1 is not that of the file');
    return presentPublished(services.baseUrl(), subject, await publishAt(context, upload, publishable, file));
  });
}

export const oneReference = {
  package_name: Type.String(),
  package_version: Type.String(),
  package_username: Type.String({ description: '`_` for none.' }),
  package_channel: Type.String({ description: '`_` for none.' }),
};

export const SearchInput = Type.Object({
  q: Type.Optional(
    Type.String({
      description: 'A reference or a beginning of it up to a mark, where `*` stands for anything.',
    }),
  ),
  ignorecase: Type.Optional(Type.String({ description: '`False` to tell the case of letters apart.' })),
});

export async function search(
  db: Db,
  projects: ProjectIds,
  scope: Pick<Search, 'protocol' | 'ofInstance'>,
  { q, ignorecase }: Static<typeof SearchInput>,
): Promise<{ results: string[] }> {
  const pattern = q === undefined || q === '' ? undefined : likePattern(q);
  const ignoresCase = ignorecase?.toLowerCase() !== 'false';
  const rows = await searchRecipes(db, projects, { pattern, ignoresCase, ...scope });
  return { results: rows.map(conanReference) };
}
