/** Direct transfers: groups and projects that are fetched from another instance. */
import { signedIn } from '../../../kernel/access/access.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, found, listing } from '../../../kernel/api/endpoint.ts';
import { outboundFetch } from '../../../kernel/api/outbound-fetch.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { badRequest, Failure, notFound } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { authorizeGroupImport, authorizeProjectImport, type Requesting } from '../imports/request.ts';
import { cancelBulkImport, type NewEntity, startBulkImport } from './actions.ts';
import { presentBulkImport, presentEntities, presentFailures } from './present.ts';
import { selectBulkImport, selectBulkImports, selectEntities, selectEntity } from './queries.ts';
import {
  BulkImportRecord,
  EntitiesInput,
  type EntityInput,
  EntityOneInput,
  EntityRecord,
  FailureRecord,
  ListInput,
  OneInput,
  StartInput,
} from './schema.ts';
import { SourceFailure, sourceAt, TryLater } from './source.ts';

function refuseDisabled({ bulk_import_enabled: isEnabled }: ApplicationSettings): void {
  if (!isEnabled) throw notFound();
}

const LIMIT = { limit: 6, periodSeconds: 60 };

async function limitStarts({ limiter }: Needs<'limiter'>, actor: Actor): Promise<void> {
  const taken = await limiter.take(`bulk_import:${actor.id}`, LIMIT);
  if (taken.allowed) return;
  throw new Failure(
    'too_many_requests',
    'This endpoint has been requested too many times. Try again later.',
    {
      headers: { 'retry-after': String(taken.retryAfter) },
    },
  );
}

/** 422 for what is no instance that answers to the token. */
async function requireSource(
  { services, settings }: Pick<Requesting, 'services' | 'settings'>,
  { url, access_token }: StartInput['configuration'],
): Promise<void> {
  const address = URL.parse(url);
  if (!address || !/^https?:$/.test(address.protocol) || address.username !== '' || address.password !== '')
    throw new Failure('unprocessable', 'configuration[url] is not an http or https address');
  const source = sourceAt(outboundFetch(services, settings), url, access_token);
  try {
    const { status } = await source.request('GET', '/user');
    if (status !== 200) throw new SourceFailure(`The source answered ${status} to the token.`);
  } catch (error) {
    if (error instanceof SourceFailure) throw new Failure('unprocessable', error.message);
    if (error instanceof TryLater) throw new Failure('unprocessable', 'The source could not be reached.');
    throw error;
  }
}

/** The entity, whose destination the actor may make. */
async function entityOf(context: Requesting, given: EntityInput): Promise<NewEntity> {
  const path = given.source_full_path.replaceAll(/^\/+|\/+$/g, '');
  const slug = given.destination_slug ?? given.destination_name ?? path.split('/').at(-1) ?? '';
  if (!/^[\w.-]{1,255}$/.test(slug)) throw badRequest('entities[destination_slug] is invalid');
  const namespace = given.destination_namespace;
  if (given.source_type === 'group_entity') await authorizeGroupImport(context, namespace);
  else if (namespace === '') throw badRequest('entities[destination_namespace] is empty');
  else await authorizeProjectImport(context, namespace);
  return {
    source_type: given.source_type,
    source_full_path: path,
    destination_slug: slug,
    destination_namespace: namespace,
    migrate_projects: given.migrate_projects ?? true,
    migrate_memberships: given.migrate_memberships ?? true,
  };
}

export const bulkImportEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/bulk_imports',
    summary: 'Fetches groups and projects from another instance.',
    access: signedIn,
    also: [422],
    input: StartInput,
    reply: BulkImportRecord,
    async handle(context) {
      const { db, services, settings, actor, input } = context;
      refuseDisabled(settings);
      await limitStarts(services, actor);
      const entities: NewEntity[] = [];
      for (const given of input.entities) entities.push(await entityOf(context, given));
      await requireSource(context, input.configuration);
      const id = await startBulkImport(services, actor, input.configuration, entities);
      return presentBulkImport(found(await selectBulkImport(db, actor.id, id)));
    },
  }),
  listing({
    method: 'GET',
    path: '/bulk_imports',
    summary: 'Your direct transfers.',
    access: signedIn,
    page: 'offset',
    input: ListInput,
    item: BulkImportRecord,
    async handle({ db, actor, input, page }) {
      return mapPage(await selectBulkImports(db, actor.id, input, page), presentBulkImport);
    },
  }),
  listing({
    method: 'GET',
    path: '/bulk_imports/entities',
    summary: 'What your direct transfers fetch.',
    access: signedIn,
    page: 'offset',
    input: ListInput,
    item: EntityRecord,
    async handle({ db, actor, input, page }) {
      const entities = await selectEntities(db, actor.id, { status: input.status }, page);
      return { ...entities, items: await presentEntities(db, entities.items) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/bulk_imports/:import_id',
    summary: 'A direct transfer of yours.',
    access: signedIn,
    input: OneInput,
    reply: BulkImportRecord,
    async handle({ db, actor, input }) {
      return presentBulkImport(found(await selectBulkImport(db, actor.id, input.import_id)));
    },
  }),
  listing({
    method: 'GET',
    path: '/bulk_imports/:import_id/entities',
    summary: 'What a direct transfer of yours fetches.',
    access: signedIn,
    page: 'offset',
    input: EntitiesInput,
    item: EntityRecord,
    async handle({ db, actor, input, page }) {
      found(await selectBulkImport(db, actor.id, input.import_id));
      const entities = await selectEntities(
        db,
        actor.id,
        { id: input.import_id, status: input.status },
        page,
      );
      return { ...entities, items: await presentEntities(db, entities.items) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/bulk_imports/:import_id/entities/:entity_id',
    summary: 'A group or project that a direct transfer of yours fetches.',
    access: signedIn,
    input: EntityOneInput,
    reply: EntityRecord,
    async handle({ db, actor, input }) {
      const [record] = await presentEntities(db, [found(await selectEntity(db, actor.id, input))]);
      return found(record);
    },
  }),
  listing({
    method: 'GET',
    path: '/bulk_imports/:import_id/entities/:entity_id/failures',
    summary: 'What was not fetched of it.',
    access: signedIn,
    page: 'offset',
    input: EntityOneInput,
    item: FailureRecord,
    async handle({ db, actor, input, page }) {
      const entity = found(await selectEntity(db, actor.id, input));
      const { offset, perPage } = 'offset' in page ? page : { offset: 0, perPage: page.perPage };
      return presentFailures(db, entity, { offset, perPage });
    },
  }),
  endpoint({
    method: 'POST',
    path: '/bulk_imports/:import_id/cancel',
    summary: 'Fetches nothing more; what is there already stays.',
    access: signedIn,
    status: 200,
    input: OneInput,
    reply: BulkImportRecord,
    async handle({ db, actor, input }) {
      const { id } = found(await selectBulkImport(db, actor.id, input.import_id));
      await cancelBulkImport(db, id);
      return presentBulkImport(found(await selectBulkImport(db, actor.id, id)));
    },
  }),
];
