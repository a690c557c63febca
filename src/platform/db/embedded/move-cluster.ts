/** A cluster of an older PostgreSQL is brought into one of ours. */
import { chownSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../data-folder.ts';
import type { ConnectionTarget } from '../database.ts';
import { type CopiedServer, copyRows } from './copy-rows.ts';
import { findOldPrograms, preparePrograms } from './programs.ts';
import { createCluster, defaults, launch, PORT, type ServerLocation, USER, VERSION } from './server.ts';

/** Makes the tables of an older server's database in an empty one of ours. */
export type MakeTables = (older: ConnectionTarget, ours: ConnectionTarget) => Promise<void>;

/** Where a cluster is made; it gets its name when it is whole, so that an existing one is complete and durable. */
export const draftOf = (cluster: string): string => `${cluster}.new`;
/** A draft that is whole, with all rows. */
const movedOf = (cluster: string): string => `${cluster}.moved`;

/** What servers of all majors know. */
const { io_method: _, autovacuum_worker_slots: __, ...plain } = defaults;

/**
 * Brings the database of an older PostgreSQL into a cluster of ours, which takes the place of the old one. That one stays, under
 * the name of its version. A kill at any moment leaves the old cluster whole, or the new one.
 */
export async function moveCluster(
  dataFolder: string,
  place: ServerLocation,
  password: string,
  version: string,
  makeTables: MakeTables | undefined,
): Promise<void> {
  const { cluster, user, host } = place;
  const refused = `${cluster} was made by PostgreSQL ${version}, and this is ${VERSION}`;
  if (Number(version) > Number(VERSION))
    throw new Error(`${refused}: start the version of Ashlar that used it last, or a later one`);
  if (makeTables === undefined)
    throw new Error(`${refused}: start the server once, which brings it to ${VERSION}`);
  const kept = `${cluster}-${version}`;
  if (existsSync(kept)) throw new Error(`${kept} is in the way of an upgrade: move it elsewhere`);
  const tell = (line: string) => process.stderr.write(`ashlar: ${line}\n`);
  const native = findOldPrograms(dataFolder, version);
  const spare = join(host, 'programs-older');
  mkdirSync(spare, { mode: 0o755 });
  const older = preparePrograms(native, user, join(spare, 'native'));
  tell(
    `the database is brought from PostgreSQL ${version} to ${VERSION}, which takes as long as to write all of it`,
  );
  await createCluster({ ...place, cluster: draftOf(cluster) }, password);
  const connection = { port: PORT, user: USER, password, database: 'postgres' };
  const begin = async (programs: string, of: string, name: string, settings: Record<string, string>) => {
    const own = join(host, name);
    mkdirSync(own, { mode: 0o700 });
    if (user !== undefined) chownSync(own, user.uid, user.gid);
    const server = launch(dataFolder, { cluster: of, user, host: own, programs }, settings);
    await server.ready();
    return { server, copied: { target: { ...connection, host: own }, cluster: of } satisfies CopiedServer };
  };
  const from = await begin(older, cluster, 'older', plain);
  try {
    const to = await begin(place.programs, draftOf(cluster), 'ours', defaults);
    try {
      await makeTables(from.copied.target, to.copied.target);
      await copyRows(from.copied, to.copied);
    } finally {
      await to.server.stop();
    }
  } finally {
    await from.server.stop();
  }
  renameSync(draftOf(cluster), movedOf(cluster));
  await syncFolder(dataFolder);
  renameSync(cluster, kept);
  await syncFolder(dataFolder);
  await finishMove(dataFolder, cluster);
  tell(`the database is PostgreSQL ${VERSION} now; ${kept} has it as it was: remove that when all is well`);
}

/** The last step. While the old cluster has its name, it may have been written to since: then all is done anew. */
export async function finishMove(dataFolder: string, cluster: string): Promise<void> {
  const moved = movedOf(cluster);
  if (!existsSync(moved)) return;
  if (existsSync(cluster)) await rm(moved, { recursive: true, maxRetries: 5 });
  else renameSync(moved, cluster);
  await syncFolder(dataFolder);
}
