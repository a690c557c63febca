/** Objects: where programs fetch and bring them, and their bytes (Git LFS: docs/api/batch.md, basic-transfers.md). */
import { authorizeProject } from '../../../kernel/access/find.ts';
import { asResponse, replyWithBlob } from '../../../kernel/api/blob-reply.ts';
import { admit } from '../../../kernel/api/gate.ts';
import { instanceLimit, selectUsage } from '../../../kernel/repository-size/actions.ts';
import { judge, pushRefusal, type Usage } from '../../../kernel/repository-size/rules.ts';
import { Failure } from '../../../platform/failure.ts';
import { readBody } from '../../../platform/http/bodies/body.ts';
import { receiveRaw } from '../../../platform/http/bodies/raw-file.ts';
import type { HttpResponse } from '../../../platform/http/messages.ts';
import { keepObject, linkWithinLimit } from '../objects/actions.ts';
import { selectObjects } from '../objects/queries.ts';
import { requireBatch, requireObject } from '../objects/rules.ts';
import { isOid, type LargeObject } from '../pointers/pointer.ts';
import { type Arrived, type LfsRequest, lfsJson, TYPE } from './access.ts';

type Action = { href: string; header?: Record<string, string> };
type Entry = LargeObject & {
  authenticated?: true;
  actions?: Record<string, Action>;
  error?: { code: number; message: string };
};

const ABSENT = "Object does not exist on the server or you don't have permissions to access it";

/** Addresses of objects, with the credential of the batch: programs look for none of their own then. */
function addressing({ request, project }: LfsRequest) {
  const base = `${request.origin}/${project.fullPath}.git`;
  const authorization = request.headers.authorization?.toString();
  const header = { ...(authorization !== undefined && { Authorization: authorization }) };
  return {
    download: ({ oid }: LargeObject): Action => ({ href: `${base}/lfs/objects/${oid}`, header }),
    upload: ({ oid, size }: LargeObject): Action => ({
      href: `${base}/lfs/objects/${oid}/${size}`,
      header: { ...header, 'Content-Type': 'application/octet-stream' },
    }),
    verify: (): Action => ({
      href: `${base}/info/lfs/objects/verify`,
      header: { ...header, Accept: TYPE, 'Content-Type': TYPE },
    }),
  };
}

const idsOf = (objects: readonly LargeObject[]): string[] => objects.map(({ oid }) => oid);

async function downloads(context: LfsRequest, objects: readonly LargeObject[]): Promise<Entry[]> {
  const { services, visitor, project } = context;
  const known = await selectObjects(services.database.db, project.id, idsOf(objects));
  const addresses = addressing(context);
  const isOpen = !visitor.caller && !visitor.deployToken;
  return objects.map((object) => {
    const size = known.get(object.oid);
    if (size === undefined) return { ...object, error: { code: 404, message: ABSENT } };
    const actions = { download: addresses.download(object) };
    return { oid: object.oid, size, ...(isOpen && { authenticated: true }), actions };
  });
}

/** What the project that this one was forked from has, for who reads its code: those are linked instead of brought. */
async function linkFromSource(
  { services, settings, visitor, project }: LfsRequest,
  oids: readonly string[],
): Promise<ReadonlySet<string>> {
  const source = project.row.forked_from_id;
  if (source === null || oids.length === 0) return new Set();
  const { db, points } = services.database;
  try {
    await authorizeProject(points, visitor.caller, 'read_code', source);
  } catch (error) {
    if (error instanceof Failure && error.kind !== 'unavailable') return new Set();
    throw error;
  }
  const between = { from: source, to: project.id };
  return linkWithinLimit(db, between, instanceLimit(services, settings), oids);
}

const tooLarge = (usage: Usage, bytes: number): Failure =>
  new Failure('not_acceptable', pushRefusal(usage, bytes));

async function uploads(context: LfsRequest, objects: readonly LargeObject[]): Promise<Entry[]> {
  const { services, settings, project } = context;
  const { db } = services.database;
  const [known, usage] = await Promise.all([
    selectObjects(db, project.id, idsOf(objects)),
    selectUsage(db, project.id, instanceLimit(services, settings)),
  ]);
  const wanted = new Map(objects.flatMap(({ oid, size }) => (known.has(oid) ? [] : [[oid, size]])));
  const bytes = [...wanted.values()].reduce((sum, size) => sum + size, 0);
  if (judge(usage, bytes) !== 'fits') throw tooLarge(usage, bytes);
  const missing = [...wanted.keys()];
  const linked = await linkFromSource(context, missing);
  const addresses = addressing(context);
  return objects.map((object) => {
    if (known.has(object.oid) || linked.has(object.oid)) return object;
    return { ...object, actions: { upload: addresses.upload(object), verify: addresses.verify() } };
  });
}

export async function answerBatch(arrived: Arrived): Promise<HttpResponse> {
  const { services, settings, request, visitor } = arrived;
  const { operation, objects } = requireBatch(await readBody(request));
  if (operation === 'download')
    return lfsJson(200, {
      transfer: 'basic',
      objects: await downloads(await arrived.enter('read'), objects),
    });
  const account = visitor.caller?.id ?? visitor.deployToken?.id;
  // It was counted when it came.
  await admit(services, request, settings, { kind: 'git', account, counted: false, writes: true });
  return lfsJson(200, { transfer: 'basic', objects: await uploads(await arrived.enter('write'), objects) });
}

export async function sendObject({ request, ...arrived }: Arrived): Promise<HttpResponse> {
  const { services, project } = await arrived.enter('read');
  const { oid = '' } = request.params;
  const isThere = isOid(oid) && (await selectObjects(services.database.db, project.id, [oid])).size > 0;
  if (!isThere) throw new Failure('not_found', 'Not found.');
  return asResponse(await replyWithBlob(services, request, { sha256: Buffer.from(oid, 'hex') }));
}

const mismatch = (): Failure => new Failure('bad_request', 'SHA256 or size mismatch');

/** Takes an object: its bytes are what its id and size say, or it is refused. Who brings it, has it. */
export async function receiveObject({ request, ...arrived }: Arrived): Promise<HttpResponse> {
  const { services, settings, project } = await arrived.enter('write');
  const { oid, size } = requireObject({ oid: request.params.oid ?? '', size: numberOf(request.params.size) });
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) !== size) throw mismatch();
  const { db } = services.database;
  const ofInstance = instanceLimit(services, settings);
  const usage = await selectUsage(db, project.id, ofInstance);
  if (judge(usage, size) !== 'fits' && !(await selectObjects(db, project.id, [oid])).has(oid))
    throw tooLarge(usage, size);
  const draft = await services.blobs.draft();
  try {
    await receiveRaw(request.bodyStream, { maximum: size, write: (piece) => draft.write(piece) }).catch(
      (error) => {
        throw error instanceof Failure && error.kind === 'payload_too_large' ? mismatch() : error;
      },
    );
    const received = await draft.finish();
    if (received.size !== size || received.sha256.toString('hex') !== oid) throw mismatch();
    const { sha256 } = received;
    const kept = await keepObject(db, project.id, ofInstance, {
      sha256,
      size,
      keep: (tx) => draft.keep(tx),
    });
    if (kept !== 'kept') throw tooLarge(kept, size);
  } finally {
    await draft.discard();
  }
  return lfsJson(200, {});
}

/** NaN for a text that is no plain number. */
const numberOf = (text: string | undefined): number =>
  /^[0-9]{1,16}$/.test(text ?? '') ? Number(text) : Number.NaN;

export async function verifyObject(arrived: Arrived): Promise<HttpResponse> {
  const { oid, size } = requireObject(await readBody(arrived.request));
  const { services, project } = await arrived.enter('write');
  const known = (await selectObjects(services.database.db, project.id, [oid])).get(oid);
  if (known === undefined) throw new Failure('not_found', 'Not found.');
  if (known !== size) throw new Failure('unprocessable', `The object has ${known} bytes.`);
  return lfsJson(200, { oid, size });
}
