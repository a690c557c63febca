/**
 * Pages for the files of texts: `/<full path>/uploads/…` and `/-/project/<id>/uploads/…`, with the same
 * abilities as in the API.
 */
import { authorizeGroup, authorizeProject, Moved } from '../../kernel/access/find.ts';
import type { Caller } from '../../kernel/actor.ts';
import { asResponse } from '../../kernel/api/blob-reply.ts';
import { type FileContext, fileRoute } from '../../kernel/api/file-route.ts';
import type { Needs } from '../../kernel/services.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import type { Route } from '../../platform/http/server/server.ts';
import { groupHome, type Home, projectHome } from './actions.ts';
import { replyWithUpload } from './download.ts';
import { selectBySecret } from './queries.ts';

type FindHome = (
  services: Needs<'database'>,
  caller: Caller,
  params: Record<string, string>,
) => Promise<Home>;

const projectOf = async (services: Needs<'database'>, caller: Caller, reference: string): Promise<Home> =>
  projectHome(await authorizeProject(services.database.points, caller, 'read_project', reference));

const groupOf = async (services: Needs<'database'>, caller: Caller, reference: string): Promise<Home> =>
  groupHome(await authorizeGroup(services.database.points, caller, 'read_group', reference));

const isNumber = (text: string): boolean => /^\d{1,15}$/.test(text);

/** The path of the group or project before `/uploads/`. */
const byPath: FindHome = (services, caller, { path = '' }) => {
  const [, group] = /^groups\/(.+)\/-$/.exec(path) ?? [];
  if (group !== undefined && !isNumber(group)) return groupOf(services, caller, group);
  if (!path.includes('/')) throw notFound();
  return projectOf(services, caller, path);
};

const byNumber =
  (find: (services: Needs<'database'>, caller: Caller, reference: string) => Promise<Home>): FindHome =>
  (services, caller, { id = '' }) => {
    if (!isNumber(id)) throw notFound();
    return find(services, caller, id);
  };

async function serve(
  services: Needs<'blobs' | 'database'>,
  { caller, params, request }: FileContext,
  findHome: FindHome,
): Promise<HttpResponse> {
  const { secret = '', filename = '' } = params;
  if (!/^[0-9a-f]{32}$/.test(secret)) throw notFound();
  const home = await findHome(services, caller, params).catch((error: unknown) => {
    // Addresses in texts stay valid: a move of the project leaves its files in place.
    if (error instanceof Moved) return projectOf(services, caller, String(error.projectId));
    throw error;
  });
  const upload = await selectBySecret(services.database.db, home, { secret, filename });
  if (!upload) throw notFound();
  return asResponse(await replyWithUpload(services, upload, request));
}

/** The routes outside the API. */
export const uploadPages = (
  services: Needs<'blobs' | 'config' | 'database' | 'settings' | 'authenticator' | 'limiter' | 'disk'>,
): Route[] => {
  const route = (path: string, findHome: FindHome): Route =>
    fileRoute(services, { path, handle: (context) => serve(services, context, findHome) });
  return [
    route('/-/project/:id/uploads/:secret/:filename', byNumber(projectOf)),
    route('/-/group/:id/uploads/:secret/:filename', byNumber(groupOf)),
    // With the whole secret: a group may be named `uploads`, and its contents have pages.
    route('/:path+/uploads/:secret([0-9a-f]{32})/:filename', byPath),
  ];
};
