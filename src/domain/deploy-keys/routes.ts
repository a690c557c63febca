/** Endpoints of deploy keys (facts: Projects core). */
import Type from 'typebox';
import { onInstance, onProject, signedIn } from '../../kernel/access/access.ts';
import { findUser } from '../../kernel/access/users.ts';
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { addProjectKey, addPublicKey, changeKey, enableKey, findProjectKey, removeKey } from './actions.ts';
import { presentInstanceKeys, presentKey, presentProjectKey } from './present.ts';
import { selectAllKeys, selectCommonKeys, selectProjectKeys } from './queries.ts';
import {
  ChangeDeployKey,
  canPush,
  DeployKey,
  InstanceDeployKey,
  keyId,
  NewDeployKey,
  ProjectDeployKey,
} from './schema.ts';

const managing = onProject('manage_deploy_keys');
const keysPath = '/projects/:id/deploy_keys';
const keyPath = `${keysPath}/:key_id`;
const oneKey = Type.Object(keyId);

export const deployKeyEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/deploy_keys',
    summary: 'Deploy keys of the whole instance.',
    access: onInstance,
    input: Type.Object({
      public: Type.Optional(Type.Boolean({ description: 'Only those that any project may enable.' })),
    }),
    page: 'offset',
    item: InstanceDeployKey,
    handle: async ({ db, input, page }) => {
      const listed = await selectAllKeys(db, input.public, page);
      return { ...listed, items: await presentInstanceKeys(db, listed.items) };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/deploy_keys',
    summary: 'Adds a deploy key that any project may enable.',
    access: onInstance,
    input: NewDeployKey,
    reply: InstanceDeployKey,
    handle: async ({ db, actor, input }) => {
      const [record] = await presentInstanceKeys(db, [await addPublicKey(db, actor, input)]);
      return found(record);
    },
  }),
  listing({
    method: 'GET',
    path: '/users/:user_id/project_deploy_keys',
    summary: 'Deploy keys of projects that both the user and the caller maintain.',
    access: signedIn,
    input: Type.Object({ user_id: Type.String({ description: 'Id or name.' }) }),
    page: 'offset',
    item: DeployKey,
    handle: async ({ db, services, actor, input, page }) => {
      const user = await findUser(services.database.sql, input.user_id);
      return mapPage(await selectCommonKeys(db, actor, user.id, page), presentKey);
    },
  }),
  listing({
    method: 'GET',
    path: keysPath,
    summary: 'Deploy keys of a project.',
    access: managing,
    page: 'offset',
    item: ProjectDeployKey,
    handle: async ({ db, subject, page }) =>
      mapPage(await selectProjectKeys(db, subject.id, page), presentProjectKey),
  }),
  endpoint({
    method: 'POST',
    path: keysPath,
    summary: 'Adds a deploy key to a project: a new one, or one of another project of the caller.',
    access: managing,
    input: Type.Object({ ...NewDeployKey.properties, ...canPush }),
    reply: ProjectDeployKey,
    handle: async ({ db, actor, subject, input }) =>
      presentProjectKey(await addProjectKey(db, actor, subject, input)),
  }),
  endpoint({
    method: 'GET',
    path: keyPath,
    summary: 'One deploy key of a project.',
    access: managing,
    input: oneKey,
    reply: ProjectDeployKey,
    handle: async ({ db, subject, input }) =>
      presentProjectKey(await findProjectKey(db, subject.id, input.key_id)),
  }),
  endpoint({
    method: 'PUT',
    path: keyPath,
    summary: 'Changes the title of a deploy key, and whether it may push here.',
    access: managing,
    input: ChangeDeployKey,
    reply: ProjectDeployKey,
    handle: async ({ db, actor, subject, input }) => {
      await changeKey(db, actor, subject, input);
      return presentProjectKey(await findProjectKey(db, subject.id, input.key_id));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: keyPath,
    summary: 'Takes a deploy key from a project.',
    access: managing,
    input: oneKey,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      await removeKey(db, actor, subject, input.key_id, unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'POST',
    path: `${keyPath}/enable`,
    summary: 'Gives a project a deploy key that is public or in another project of the caller.',
    access: managing,
    input: oneKey,
    reply: ProjectDeployKey,
    handle: async ({ db, actor, subject, input }) =>
      presentProjectKey(await enableKey(db, actor, subject, input.key_id)),
  }),
];
