/** Endpoints of deploy tokens. */
import Type from 'typebox';
import { onInstance } from '../../kernel/access/access.ts';
import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../kernel/api/endpoint.ts';
import { mapPage } from '../../platform/pagination/page.ts';
import { createDeployToken, deleteDeployToken } from './deploy-actions.ts';
import { listDeployTokens, selectDeployToken } from './deploy-queries.ts';
import { presentDeployToken } from './present.ts';
import { groups, projects, type Resource } from './resource.ts';
import { DeployToken, DeployTokenWithToken, NewDeployToken } from './schema.ts';

const filters = Type.Object({
  active: Type.Optional(Type.Boolean({ description: 'Only tokens that work, or that do not.' })),
});
const named = Type.Object({ token_id: Type.Integer() });

const deployEndpointsOf = <Subject extends AuthorizedProject | AuthorizedGroup>({
  of,
  manageDeployTokens: access,
  place,
}: Resource<Subject>): Endpoint[] => [
  listing({
    method: 'GET',
    path: `/${of}s/:id/deploy_tokens`,
    summary: `Deploy tokens of a ${of}.`,
    access,
    input: filters,
    item: DeployToken,
    page: 'offset',
    handle: async ({ db, subject, input, page }) =>
      mapPage(await listDeployTokens(db, place(subject), input.active, page), presentDeployToken),
  }),
  endpoint({
    method: 'POST',
    path: `/${of}s/:id/deploy_tokens`,
    summary: `Makes a deploy token of a ${of}; its value is shown this once.`,
    access,
    input: NewDeployToken,
    reply: DeployTokenWithToken,
    handle: async ({ db, actor, subject, input }) => {
      const { row, token } = await createDeployToken(db, actor, place(subject), input);
      return { ...presentDeployToken(row), token };
    },
  }),
  endpoint({
    method: 'GET',
    path: `/${of}s/:id/deploy_tokens/:token_id`,
    summary: `One deploy token of a ${of}.`,
    access,
    input: named,
    reply: DeployToken,
    handle: async ({ db, subject, input }) =>
      presentDeployToken(found(await selectDeployToken(db, place(subject), input.token_id))),
  }),
  endpoint({
    method: 'DELETE',
    path: `/${of}s/:id/deploy_tokens/:token_id`,
    summary: `Deletes a deploy token of a ${of}.`,
    access,
    input: named,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      const token = found(await selectDeployToken(db, place(subject), input.token_id));
      unmodified(token.updated_at);
      await deleteDeployToken(db, actor, place(subject), token);
      return new Reply(204);
    },
  }),
];

export const deployEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/deploy_tokens',
    summary: 'Deploy tokens of the whole instance.',
    access: onInstance,
    input: filters,
    item: DeployToken,
    page: 'offset',
    handle: async ({ db, input, page }) =>
      mapPage(await listDeployTokens(db, undefined, input.active, page), presentDeployToken),
  }),
  ...deployEndpointsOf(projects),
  ...deployEndpointsOf(groups),
];
