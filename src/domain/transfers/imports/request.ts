/** Requests of imports: whoever may make the project or group has it made, empty and private, and the archive is read by a job. */
import { authorizeGroup, authorizeProject } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { withReceivedFile } from '../../../kernel/files/received-file.ts';
import { visibilityLevel, visibilityNames } from '../../../kernel/policy/roles.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { badRequest, Failure, forbidden, notFound } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { createGroup, createProject, findTargetNamespace } from '../../namespaces/index.ts';
import { insertImport } from './actions.ts';
import type { ImportOptions } from './queries.ts';
import { relationNames } from './schema.ts';

export type Requesting = {
  db: Db;
  services: Needs<'blobs' | 'config' | 'database' | 'outbound' | 'registered' | 'repositories'>;
  settings: ApplicationSettings;
  actor: Actor;
};

/** Bytes that have come, and how they are kept. */
export type Archive = { sha256: Buffer; keep(tx: Db): Promise<void> };

/** What a request says of the project. */
export type WantedProject = {
  path: string;
  name?: string | undefined;
  namespace?: string | undefined;
  overwrite?: boolean | undefined;
  override?: Readonly<Record<string, unknown>> | undefined;
};

/** What others add to an import, and do in its transaction. */
type Also = { more?: Partial<ImportOptions>; also?: (tx: Db, id: number) => Promise<void> };

const MEBIBYTE = 1_048_576;

export const largest = ({ max_import_size }: ApplicationSettings): number =>
  max_import_size === 0 ? Number.MAX_SAFE_INTEGER : max_import_size * MEBIBYTE;

/** 503 where the instance takes no archives, as the public API has it. */
export function refuseSource({ import_sources }: ApplicationSettings): void {
  if (!import_sources.includes('gitlab_project'))
    throw new Failure('unavailable', '503 Service Unavailable: imports of project files are disabled');
}

/** The fields of a form that comes with an archive. */
export class Fields {
  readonly #values = new Map<string, string>();
  readonly override: Record<string, string> = {};

  add(name: string, value: string): void {
    const [, attribute] = /^override_params\[([a-z_]{1,64})\]$/.exec(name) ?? [];
    if (attribute !== undefined) this.override[attribute] = value;
    else this.#values.set(name, value);
  }

  get(name: string): string | undefined {
    const value = this.#values.get(name)?.trim();
    return value === '' ? undefined : value;
  }

  /** 400 without it. */
  need(name: string): string {
    const value = this.get(name);
    if (value === undefined)
      throw new Failure('bad_request', `400 Bad request - "${name}" not given`, {
        error: `${name} is missing`,
      });
    return value;
  }
}

/** Receives the file of a form to its end, and hands it on with the fields. */
export async function withArchive<T>(
  { services, settings, request }: Requesting & { request: HttpRequest },
  use: (archive: Archive, fields: Fields) => Promise<T>,
): Promise<T> {
  const fields = new Fields();
  const options = {
    maximum: largest(settings),
    field: (name: string, value: string) => fields.add(name, value),
  };
  return withReceivedFile({ services, request }, options, ({ sha256, draft }) =>
    use({ sha256, keep: (tx) => draft.keep(tx) }, fields),
  );
}

/** The most visible that the actor may choose. */
function mostVisible({ actor, settings }: Requesting): number {
  const allowed = visibilityNames.filter(
    (name) => actor.admin || !settings.restricted_visibility_levels.includes(name),
  );
  return Math.max(0, ...allowed.map(visibilityLevel));
}

const optionsFor = (context: Requesting, more: Partial<ImportOptions> = {}): ImportOptions => ({
  by_admin: context.actor.admin,
  visibility: mostVisible(context),
  ...more,
});

/** The namespace in which the actor may import a project; 403 or 404 otherwise. */
export async function authorizeProjectImport({ services, actor }: Requesting, reference: string) {
  const target = await findTargetNamespace(services, actor, reference).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'not_found') throw notFound('Namespace');
    throw error;
  });
  if (target.kind === 'group')
    await authorizeGroup(services.database.sql, actor, 'import_projects', target.id);
  return target;
}

/** The group in which the actor may make groups; undefined for the top, about which createGroup() decides. */
export async function authorizeGroupImport(
  { services, actor }: Requesting,
  reference: string | number | undefined,
): Promise<number | undefined> {
  if (actor.external && !actor.admin) throw forbidden();
  if (reference === undefined || reference === '') return undefined;
  return (await authorizeGroup(services.database.sql, actor, 'create_subgroup', reference)).id;
}

const taken = (): Failure => new Failure('bad_request', 'Name has already been taken');

/** The project of this path whose content is to be replaced; undefined where there is none. */
async function findReplaced({ services, actor }: Requesting, fullPath: string) {
  return authorizeProject(services.database.sql, actor, 'delete_project', fullPath).catch(
    (error: unknown) => {
      if (error instanceof Failure && error.kind === 'not_found') return undefined;
      throw error;
    },
  );
}

async function replaceProject(
  context: Requesting,
  project: { id: number; fullPath: string },
  wanted: WantedProject,
  archive: Archive,
): Promise<void> {
  const { services, actor } = context;
  await inTransaction(services.database.db, async (tx) => {
    await archive.keep(tx);
    const options = optionsFor(context, {
      overwrite: true,
      ...(wanted.override && { override: wanted.override }),
    });
    await insertImport(
      tx,
      { column: 'project_id', id: project.id },
      { userId: actor.id, sha256: archive.sha256, options },
    );
    const entity = { type: 'Project', id: project.id, path: project.fullPath } as const;
    await announce(tx, { author: actor, audit: { entity, event: 'project_overwritten_by_import' } });
  });
}

/** Makes the project that the archive is imported into; its id. */
export async function requestProjectImport(
  context: Requesting,
  wanted: WantedProject,
  archive: Archive,
  { more = {}, also = async () => {} }: Also = {},
): Promise<number> {
  const { services, settings, actor } = context;
  const { path, name = path, namespace, override } = wanted;
  const target = namespace === undefined ? undefined : await authorizeProjectImport(context, namespace);
  if (wanted.overwrite) {
    const replaced = await findReplaced(context, `${target?.fullPath ?? actor.username}/${path}`);
    if (replaced) {
      await replaceProject(context, replaced, wanted, archive);
      return replaced.id;
    }
  }
  const made = { name, path, visibility: 'private' as const, ...(target && { namespace_id: target.id }) };
  try {
    return await createProject(services, settings, actor, made, actor, async (tx, id) => {
      await archive.keep(tx);
      const options = optionsFor(context, { ...more, ...(override && { override }) });
      await insertImport(
        tx,
        { column: 'project_id', id },
        { userId: actor.id, sha256: archive.sha256, options },
      );
      await also(tx, id);
    });
  } catch (error) {
    if (error instanceof Failure && error.kind === 'conflict') throw taken();
    throw error;
  }
}

const isRelation = (name: string): name is (typeof relationNames)[number] =>
  relationNames.some((known) => known === name);

/** Imports one relation into a project that is there; the project. */
export async function requestRelationImport(context: Requesting, fields: Fields, archive: Archive) {
  const { services, actor } = context;
  const [path, relation] = [fields.need('path'), fields.need('relation')];
  if (!isRelation(relation)) throw badRequest(`relation is none of ${relationNames.join(', ')}`);
  const project = await authorizeProject(services.database.sql, actor, 'import_relations', path);
  await inTransaction(services.database.db, async (tx) => {
    await archive.keep(tx);
    const made = { userId: actor.id, sha256: archive.sha256, relation, options: optionsFor(context) };
    await insertImport(tx, { column: 'project_id', id: project.id }, made);
  });
  return project;
}

/** The fields of a form as a group. */
export async function requestedGroup(context: Requesting, fields: Fields): Promise<WantedGroup> {
  const parent = fields.get('parent_id');
  if (parent !== undefined && !/^\d{1,15}$/.test(parent)) throw badRequest('parent_id is invalid');
  return {
    name: fields.need('name'),
    path: fields.need('path'),
    parent: await authorizeGroupImport(context, parent === undefined ? undefined : Number(parent)),
  };
}

export type WantedGroup = { name: string; path: string; parent: number | undefined };

/** Makes the group that the archive is imported into. */
export async function requestGroupImport(
  context: Requesting,
  { name, path, parent }: WantedGroup,
  archive: Archive,
  { more = {}, also = async () => {} }: Also = {},
): Promise<void> {
  const wanted = {
    name,
    path,
    visibility: 'private' as const,
    ...(parent !== undefined && { parent_id: parent }),
  };
  await createGroup(context, wanted, async (tx, id) => {
    await archive.keep(tx);
    const made = { userId: context.actor.id, sha256: archive.sha256, options: optionsFor(context, more) };
    await insertImport(tx, { column: 'namespace_id', id }, made);
    await also(tx, id);
  });
}
