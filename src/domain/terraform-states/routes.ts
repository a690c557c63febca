/** States of Terraform by the protocol of its backend over HTTP (facts-packages: 1.13). */
import Type from 'typebox';
import { onProject } from '../../kernel/access/access.ts';
import { bytesOf, type Endpoint, endpoint, found, noContent, Reply } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { Failure } from '../../platform/failure.ts';
import { receiveRaw } from '../../platform/http/bodies/raw-file.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { JsonMeter } from '../../platform/http/parameters/json-meter.ts';
import { decodeUtf8 } from '../../platform/http/parameters/raw-parameters.ts';
import { unseal } from '../../platform/secret.ts';
import { deleteState, deleteVersion, endLock, takeLock, writeState } from './actions.ts';
import { selectNewest, selectState, selectVersion, type VersionRow } from './queries.ts';
import { type Lock as HeldLock, requireName, serialOf } from './rules.ts';

const path = '/projects/:id/terraform/state/:name';

/** Programs come with Basic credentials; deploy tokens have no role that reads states. */
const read = {
  access: onProject('read_terraform_state'),
  packageScope: 'read_package_registry',
  jobToken: true,
} as const;
const write = {
  access: onProject('manage_terraform_state'),
  packageScope: 'write_package_registry',
  jobToken: true,
} as const;

/** Of a state, which is read and sealed in one go. */
const MAX_BYTES = 8_388_608;

const OneState = Type.Object({ name: Type.String() });
const lockId = Type.String({ minLength: 1, maxLength: 255, description: 'Of the lock.' });
const text = () => Type.Optional(Type.String({ maxLength: 4_096 }));
const about = {
  Operation: text(),
  Info: text(),
  Who: text(),
  Version: text(),
  Created: text(),
  Path: text(),
};
const Lock = Type.Object({ ID: Type.String(), ...about });
/** The body has the lock, too: programs say who has it. */
const lockedBy = (held: HeldLock): Failure =>
  new Failure('conflict', `409 Conflict - locked by ${held.ID}`, { fields: { ...held } });
const OneVersion = Type.Object({ name: Type.String(), serial: Type.Integer({ minimum: 0 }) });

const replyWith = ({ secretKey }: Needs<'secretKey'>, { content }: VersionRow) =>
  new Reply(200, Buffer.from(unseal(secretKey, content)), { 'content-type': 'application/json' });

async function receive(request: HttpRequest): Promise<string> {
  const pieces: Buffer[] = [];
  // A state may have as many values as it has room for.
  const meter = new JsonMeter(undefined, MAX_BYTES);
  const write = async (piece: Buffer) => {
    meter.push(piece);
    pieces.push(piece);
  };
  await receiveRaw(request.bodyStream, { maximum: MAX_BYTES, write });
  return decodeUtf8(Buffer.concat(pieces));
}

export const stateEndpoints: Endpoint[] = [
  endpoint({
    ...read,
    method: 'GET',
    path,
    summary: 'The newest version of a state of Terraform; 204 for one that was locked alone.',
    also: [204],
    input: OneState,
    reply: bytesOf('application/json'),
    handle: async ({ db, services, subject, input }) => {
      requireName(input.name);
      const state = found(await selectState(db, subject, input.name), 'State');
      const version = await selectNewest(db, state);
      return version ? replyWith(services, version) : new Reply<never>(204);
    },
  }),
  endpoint({
    ...write,
    method: 'POST',
    path,
    summary: 'Writes a version of a state of Terraform: a JSON object with its serial number, as it is.',
    stream: true,
    also: [204, 423],
    input: Type.Object({ name: Type.String(), ID: Type.Optional(lockId) }),
    status: 200,
    reply: noContent,
    handle: async (context) => {
      const { name, ID } = context.input;
      requireName(name);
      const text = await receive(context.request);
      if (text === '') return new Reply<null>(204, null);
      await writeState(context, name, { text, serial: serialOf(text), lockId: ID });
      return null;
    },
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path,
    summary: 'Deletes a state of Terraform with all its versions.',
    also: [423],
    input: Type.Object({ name: Type.String(), ID: Type.Optional(lockId) }),
    status: 200,
    reply: noContent,
    handle: async (context) => {
      const { name, ID } = context.input;
      await deleteState(context, name, ID, context.unmodified);
      return null;
    },
  }),
  endpoint({
    ...write,
    method: 'POST',
    path: `${path}/lock`,
    summary: 'Locks a state of Terraform; 409 with the lock that is there already.',
    also: [409],
    input: Type.Object({ name: Type.String(), ID: lockId, ...about }),
    status: 200,
    reply: Lock,
    handle: async (context) => {
      const { name, ...lock } = context.input;
      requireName(name);
      const held = await takeLock(context, name, lock);
      if (held) throw lockedBy(held);
      return lock;
    },
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path: `${path}/lock`,
    summary: 'Unlocks a state of Terraform; 409 with the lock where that has another id.',
    also: [409],
    input: Type.Object({ name: Type.String(), ID: Type.Optional(lockId) }),
    status: 200,
    reply: noContent,
    handle: async (context) => {
      const held = await endLock(context, context.input.name, context.input.ID, context.unmodified);
      if (held) throw lockedBy(held);
      return null;
    },
  }),
  endpoint({
    ...read,
    method: 'GET',
    path: `${path}/versions/:serial`,
    summary: 'A version of a state of Terraform, by its serial number.',
    input: OneVersion,
    reply: bytesOf('application/json'),
    handle: async ({ db, services, subject, input }) => {
      const state = found(await selectState(db, subject, input.name), 'State');
      return replyWith(services, found(await selectVersion(db, state, input.serial), 'State Version'));
    },
  }),
  endpoint({
    ...write,
    method: 'DELETE',
    path: `${path}/versions/:serial`,
    summary: 'Deletes a version of a state of Terraform that nobody has locked.',
    also: [423],
    input: OneVersion,
    reply: noContent,
    handle: async (context) => {
      const { name, serial } = context.input;
      await deleteVersion(context, name, serial, context.unmodified);
      return null;
    },
  }),
];
