/** Locks of paths, as programs take, list and give back (Git LFS: docs/api/locking.md). */
import { Failure, forbidden } from '../../../platform/failure.ts';
import { readBody } from '../../../platform/http/bodies/body.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { lockPath, unlockPath } from '../locks/actions.ts';
import { selectLocks } from '../locks/queries.ts';
import { type Lock, type LockPage, numberIn, requireLockPath, requirePage } from '../locks/rules.ts';
import { type Arrived, type LfsRequest, lfsJson } from './access.ts';

const presentLock = ({ id, path, locked_at, name }: Lock) => ({
  id: String(id),
  path,
  locked_at: locked_at.toISOString(),
  owner: { name },
});

/** The page's locks, and where the next one begins. */
function pageOf(found: readonly Lock[], { limit }: LockPage) {
  const next = found[limit];
  return { locks: found.slice(0, limit), next: next ? { next_cursor: String(next.id) } : {} };
}

export async function listLocks(arrived: Arrived): Promise<HttpResponse> {
  const { services, request, project } = await arrived.enter('read');
  const query = new URLSearchParams(request.query);
  const asked = (name: string): string | undefined => query.get(name) || undefined;
  const page = requirePage(asked('cursor'), asked('limit'));
  const [path, id] = [asked('path'), asked('id')];
  // What no lock has: 0, which is no id, and no zero byte reaches the database.
  const isNone = path?.includes('\0') || (id !== undefined && numberIn(id) === undefined);
  const found = isNone
    ? []
    : await selectLocks(services.database.db, project.id, {
        ...page,
        path,
        id: id === undefined ? undefined : Number(id),
      });
  const { locks, next } = pageOf(found, page);
  return lfsJson(200, { locks: locks.map(presentLock), ...next });
}

/** Locks belong to users. */
function requireUser({ visitor: { caller } }: LfsRequest): number {
  if (!caller) throw forbidden('You have no permissions');
  return caller.id;
}

export async function verifyLocks(arrived: Arrived): Promise<HttpResponse> {
  const { cursor, limit } = await readBody(arrived.request);
  const page = requirePage(cursor, limit);
  const { services, visitor, project } = await arrived.enter('write');
  const { locks, next } = pageOf(await selectLocks(services.database.db, project.id, page), page);
  const { ours = [], theirs = [] } = Object.groupBy(locks, ({ user_id }) =>
    user_id === visitor.caller?.id ? 'ours' : 'theirs',
  );
  return lfsJson(200, { ours: ours.map(presentLock), theirs: theirs.map(presentLock), ...next });
}

export async function createLock(arrived: Arrived): Promise<HttpResponse> {
  const path = requireLockPath((await readBody(arrived.request)).path);
  const context = await arrived.enter('write');
  const { services, project } = context;
  // A lock is of all branches: to push to one that is shared does not do.
  if (!project.may('push_code')) throw forbidden('You have no permissions');
  const { lock, isNew } = await lockPath(services.database.db, project.id, requireUser(context), path);
  return isNew
    ? lfsJson(201, { lock: presentLock(lock) })
    : lfsJson(409, { lock: presentLock(lock), message: 'already locked' });
}

export async function removeLock(arrived: Arrived): Promise<HttpResponse> {
  const { force } = await readBody(arrived.request);
  const context = await arrived.enter('write');
  const { services, request, project } = context;
  const id = numberIn(request.params.id);
  if (id === undefined) throw new Failure('not_found', 'Lock not found');
  const wish = {
    userId: requireUser(context),
    force: force === true,
    mayForce: project.may('manage_repository'),
  };
  return lfsJson(200, { lock: presentLock(await unlockPath(services.database.db, project.id, id, wish)) });
}
