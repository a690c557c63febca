/** Fetches a group or a project step by step, each by a job of its own: its export, and the import of that here. */
import { outboundFetch } from '../../../kernel/api/outbound-fetch.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import { type Db, inTransaction } from '../../../platform/db/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { unseal } from '../../../platform/secret.ts';
import type { ImportServices } from '../imports/report.ts';
import {
  authorizeGroupImport,
  largest,
  type Requesting,
  requestGroupImport,
  requestProjectImport,
} from '../imports/request.ts';
import { endEntity, type NewEntity, nextStep } from './actions.ts';
import { type RunningEntity, selectActor, selectEnd, selectPathOf, selectRunning } from './queries.ts';
import { type Source, SourceFailure, sourceAt, TryLater } from './source.ts';

export type BulkServices = ImportServices & Needs<'outbound' | 'secretKey'>;

/** Milliseconds after which a source that is not ready is waited for no more. */
const LONGEST_MS = 86_400_000;
const LOOK_SECONDS = 2;

const isGroup = ({ source_type }: Pick<RunningEntity, 'source_type'>): boolean =>
  source_type === 'group_entity';

const pathOf = (entity: RunningEntity): string =>
  `/${isGroup(entity) ? 'groups' : 'projects'}/${encodeURIComponent(entity.source_full_path)}`;

/** The export of the group that is there: only its name tells a new one. */
async function etagOf(source: Source, entity: RunningEntity): Promise<string> {
  const { status, headers } = await source.request('HEAD', `${pathOf(entity)}/export/download`);
  return status === 200 ? String(headers.etag ?? '') : '';
}

async function askForExport(services: BulkServices, source: Source, entity: RunningEntity): Promise<void> {
  const source_etag = isGroup(entity) ? await etagOf(source, entity) : '';
  const { status } = await source.request('POST', `${pathOf(entity)}/export`);
  if (status !== 202) throw new SourceFailure(`The source answered ${status} to the request for an export.`);
  const { background } = services.database;
  await inTransaction(background, (tx) => nextStep(tx, entity, { step: 'wait', source_etag }, LOOK_SECONDS));
}

async function isMade(source: Source, entity: RunningEntity): Promise<boolean> {
  if (isGroup(entity)) {
    const etag = await etagOf(source, entity);
    return etag !== '' && etag !== entity.source_etag;
  }
  const { status, json } = await source.request('GET', `${pathOf(entity)}/export`);
  if (status !== 200)
    throw new SourceFailure(`The source answered ${status} to the question for the export.`);
  const { export_status: state } = (json ?? {}) as { export_status?: unknown };
  if (state === 'none') throw new SourceFailure('The source could not make the export.');
  return state === 'finished';
}

/** Fetches the export, and has it imported in the name of who asked for it. */
async function fetchExport(services: BulkServices, source: Source, entity: RunningEntity): Promise<void> {
  const { background } = services.database;
  if (!(await isMade(source, entity))) {
    await inTransaction(background, (tx) => nextStep(tx, entity, { step: 'wait' }, LOOK_SECONDS));
    return;
  }
  const settings = await services.settings.read();
  const actor = await selectActor(background, entity);
  if (!actor) throw new SourceFailure('The account that asked for it is blocked.');
  const draft = await services.blobs.draft();
  try {
    await source.download(`${pathOf(entity)}/export/download`, largest(settings), (piece) =>
      draft.write(piece),
    );
    const { sha256 } = await draft.finish();
    const context: Requesting = { db: background, services, settings, actor };
    const { destination_slug: slug, destination_namespace: namespace } = entity;
    const archive = { sha256, keep: (tx: Db) => draft.keep(tx) };
    const more = entity.migrate_memberships ? {} : { withoutMembers: true };
    if (isGroup(entity)) {
      const wanted = { name: slug, path: slug, parent: await authorizeGroupImport(context, namespace) };
      await requestGroupImport(context, wanted, archive, {
        more,
        also: (tx, id) => nextStep(tx, entity, { step: 'import', namespace_id: id }, LOOK_SECONDS),
      });
    } else
      await requestProjectImport(context, { path: slug, namespace }, archive, {
        more,
        also: (tx, id) => nextStep(tx, entity, { step: 'import', project_id: id }, LOOK_SECONDS),
      });
  } finally {
    await draft.discard();
  }
}

const MAX_PROJECTS = 2_000;
/** Paths of a project below its group, whatever a source says. */
const isBelow = /^(?:[\w.-]{1,255}\/){0,19}[\w.-]{1,255}$/;
const PER_PAGE = 100;

/** The projects of a group that was fetched, and where they go. */
async function projectsOf(
  services: BulkServices,
  source: Source,
  entity: RunningEntity,
): Promise<NewEntity[]> {
  if (!isGroup(entity) || !entity.migrate_projects || entity.namespace_id === null) return [];
  const here = await selectPathOf(services.database.background, entity.namespace_id);
  if (here === undefined) return [];
  const found: NewEntity[] = [];
  for (let page = 1; found.length < MAX_PROJECTS; page++) {
    const query = `include_subgroups=true&with_shared=false&simple=true&per_page=${PER_PAGE}&page=${page}`;
    const { status, json } = await source.request('GET', `${pathOf(entity)}/projects?${query}`);
    if (status !== 200 || !Array.isArray(json))
      throw new SourceFailure(`The source answered ${status} to the list of projects.`);
    for (const project of json as unknown[]) {
      const { path_with_namespace: path } = (project ?? {}) as { path_with_namespace?: unknown };
      const prefix = `${entity.source_full_path}/`;
      if (typeof path !== 'string' || !path.toLowerCase().startsWith(prefix.toLowerCase())) continue;
      if (!isBelow.test(path.slice(prefix.length))) continue;
      const parts = path.slice(prefix.length).split('/');
      const slug = parts.pop() ?? '';
      found.push({
        source_type: 'project_entity',
        source_full_path: path,
        destination_slug: slug,
        destination_namespace: [here, ...parts].join('/'),
        migrate_projects: false,
        migrate_memberships: entity.migrate_memberships,
        parent_id: entity.id,
      });
    }
    if (json.length < PER_PAGE) break;
  }
  return found;
}

async function lookAtImport(services: BulkServices, source: Source, entity: RunningEntity): Promise<void> {
  const { background } = services.database;
  const end = await selectEnd(background, entity);
  if (!end && entity.project_id === null && entity.namespace_id === null)
    throw new SourceFailure('What was made of it was deleted.');
  if (!end) {
    await inTransaction(background, (tx) => nextStep(tx, entity, { step: 'import' }, LOOK_SECONDS));
    return;
  }
  if (end.status === 'failed') throw new SourceFailure(end.error ?? 'The import failed.');
  await endEntity(background, entity, 'finished', null, await projectsOf(services, source, entity));
}

/** What is wrong for good, in words. */
function failureOf(error: unknown): string | undefined {
  if (error instanceof SourceFailure) return error.message;
  if (error instanceof Failure && error.kind !== 'unavailable' && error.kind !== 'too_many_requests')
    return typeof error.publicMessage === 'string'
      ? error.publicMessage
      : JSON.stringify(error.publicMessage);
  return undefined;
}

const steps = { export: askForExport, wait: fetchExport, import: lookAtImport } as const;

/** Does the next step of an entity. */
export async function runEntity(services: BulkServices, id: number): Promise<void> {
  const { background } = services.database;
  const entity = await selectRunning(background, id);
  if (!entity) return;
  if (now().getTime() - entity.created_at.getTime() > LONGEST_MS) {
    await endEntity(background, entity, 'timeout', 'The source was not ready within a day.');
    return;
  }
  const fetch = outboundFetch(services, await services.settings.read());
  const source = sourceAt(fetch, entity.source_url, unseal(services.secretKey, entity.token_sealed));
  const step = entity.step as keyof typeof steps; // the table has no others
  try {
    await steps[step](services, source, entity);
  } catch (error) {
    if (error instanceof TryLater) {
      await inTransaction(background, (tx) => nextStep(tx, entity, { step }, error.seconds));
      return;
    }
    const text = failureOf(error);
    if (text === undefined) throw error;
    await endEntity(background, entity, 'failed', text);
  }
}
