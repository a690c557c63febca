/** Endpoints of custom attributes, the same for each kind of owner. */
import Type from 'typebox';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { CustomAttribute } from '../../../kernel/namespaces/custom-attributes.ts';
import { mapPage, selectPage } from '../../../platform/pagination/page.ts';
import { deleteAttribute, setAttribute } from './actions.ts';
import { type OwnerKind, ownerKinds } from './owners.ts';
import { attributesOf, selectAttribute } from './queries.ts';

const Key = Type.String({ minLength: 1, maxLength: 255, description: 'The name of the attribute.' });
const Value = Type.String({ maxLength: 10_000, description: 'The value of the attribute.' });

const endpointsOf = ({ path, noun, access }: OwnerKind): Endpoint[] => [
  listing({
    method: 'GET',
    path: `${path}/custom_attributes`,
    summary: `Custom attributes of ${noun}.`,
    access,
    item: CustomAttribute,
    page: 'offset',
    handle: async ({ db, subject, page }) => {
      const order = { by: 'key', sort: 'asc' } as const;
      const rows = await selectPage(db, attributesOf(db, subject), page, order, { key: 'key', id: 'id' });
      return mapPage(rows, ({ key, value }) => ({ key, value }));
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/custom_attributes/:key`,
    summary: `One custom attribute of ${noun}.`,
    access,
    input: Type.Object({ key: Key }),
    reply: CustomAttribute,
    handle: async ({ db, subject, input }) => {
      const { key, value } = found(await selectAttribute(db, subject, input.key));
      return { key, value };
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/custom_attributes/:key`,
    summary: `Sets a custom attribute of ${noun}.`,
    access,
    input: Type.Object({ key: Key, value: Value }),
    reply: CustomAttribute,
    handle: async ({ db, subject, actor, input: { key, value } }) => {
      await setAttribute(db, actor, subject, { key, value });
      return { key, value };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/custom_attributes/:key`,
    summary: `Removes a custom attribute of ${noun}.`,
    access,
    input: Type.Object({ key: Key }),
    reply: noContent,
    handle: async ({ db, subject, actor, input, unmodified }) => {
      unmodified(found(await selectAttribute(db, subject, input.key)).updated_at);
      await deleteAttribute(db, actor, subject, input.key);
      return new Reply(204);
    },
  }),
];

export const customAttributeEndpoints: Endpoint[] = ownerKinds.flatMap(endpointsOf);
