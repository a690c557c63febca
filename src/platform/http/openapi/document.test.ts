/** Parameters, bodies and shared records in the document. */
import { type TObject, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { commaList, exactlyOne, file, nullable, parameterRules } from '../parameters/schema.ts';
import { openApiDocument, operationId } from './document.ts';
import type { Operation } from './operation.ts';

const record = Type.Object({
  ...{ id: Type.Integer({ description: 'Of the record, and of nothing else.' }) },
  ...{ name: Type.String({ description: 'Of the record; one may have the name of another.' }) },
  ...{ text: Type.String({ description: 'What is written in it.' }) },
});

const operation = (given: Partial<Operation> & { input?: TObject }): Operation => ({
  method: 'GET',
  path: '/things/:id',
  summary: 'A thing.',
  tag: 'things',
  deprecated: false,
  input: Type.Object({}),
  reply: { statuses: [200], schema: Type.Object({}), content: 'none', headers: [] },
  refusals: [404],
  security: [undefined, 'token'],
  extensions: { 'x-scopes': ['api'] },
  ...given,
});

const describeAll = (operations: Operation[]) =>
  openApiDocument({
    info: { title: 'T', version: '1', description: '' },
    server: '/api',
    tags: [{ name: 'things' }],
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    headers: {},
    refusals: { 404: 'Not there.' },
    operations,
  }) as { paths: Record<string, Record<string, unknown>>; components: { schemas: Record<string, unknown> } };

describe('an operation', () => {
  test('has its parameters in the styles that are decoded', () => {
    const input = Type.Object({
      id: Type.Integer({ description: 'Which.' }),
      states: Type.Array(Type.String()),
      topics: Type.Optional(commaList(Type.String())),
      filter: Type.Optional(Type.Object({ key: Type.String() })),
      search: Type.Optional(Type.String({ description: 'Part of it.' })),
    });
    const { paths } = describeAll([operation({ input })]);
    const integer = { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 };
    const list = { type: 'array', items: { type: 'string' } };
    const filter = { type: 'object', required: ['key'], properties: { key: { type: 'string' } } };
    expect(paths['/things/{id}']?.get).toEqual({
      operationId: 'getThingsId',
      summary: 'A thing.',
      tags: ['things'],
      security: [{}, { token: [] }],
      parameters: [
        { name: 'id', in: 'path', required: true, description: 'Which.', schema: integer },
        {
          name: 'states[]',
          in: 'query',
          style: 'form',
          explode: true,
          required: true,
          schema: { ...list, minItems: 1 },
        },
        { name: 'topics', in: 'query', style: 'form', explode: false, schema: list },
        { name: 'filter', in: 'query', style: 'deepObject', explode: true, schema: filter },
        { name: 'search', in: 'query', description: 'Part of it.', schema: { type: 'string' } },
      ],
      responses: {
        200: { description: 'Done; no body.' },
        404: { $ref: '#/components/responses/Refusal404' },
      },
      'x-scopes': ['api'],
    });
  });

  test.each([
    [{ name: Type.String() }, ['application/json', 'application/x-www-form-urlencoded']],
    [{ name: nullable(Type.String()) }, ['application/json']],
    [{ names: Type.Array(Type.String()) }, ['application/json']],
    [{ avatar: file() }, ['multipart/form-data']],
  ])('that writes has them in the bodies that can hold them', (properties, types) => {
    const { paths, components } = describeAll([
      operation({ method: 'POST', path: '/things', input: Type.Object(properties) }),
    ]);
    const name = types[0] === 'multipart/form-data' ? 'PostThingsBodyParts' : 'PostThingsBody';
    const content = Object.fromEntries(
      types.map((type) => [type, { schema: { $ref: `#/components/schemas/${name}` } }]),
    );
    expect(paths['/things']?.post).toHaveProperty('requestBody', { required: true, content });
    expect(paths['/things']?.post).not.toHaveProperty('parameters');
    expect(Object.keys(components.schemas)).toEqual([name, 'Refusal']);
  });

  test('says what rules ask: bounds, what goes together, and what only a rule behind the decoder refuses', () => {
    const input = Type.Object(
      { id: Type.Optional(Type.Integer()), name: Type.Optional(Type.String({ ruled: { pattern: '\\S' } })) },
      parameterRules(exactlyOne('id', 'name')),
    );
    const { components } = describeAll([operation({ method: 'POST', path: '/things', input })]);
    expect(components.schemas.PostThingsBody).toEqual({
      type: 'object',
      properties: {
        id: { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
        name: { type: 'string', pattern: '\\S' },
      },
      allOf: [{ oneOf: [{ required: ['id'] }, { required: ['name'] }] }],
    });
  });

  test('links what it made to what reads, changes and deletes it', () => {
    const made = { statuses: [201], schema: record, content: 'json', headers: [] } as const;
    const input = Type.Object({ place_id: Type.Integer(), thing_id: Type.Integer() });
    const { paths } = describeAll([
      operation({ method: 'POST', path: '/places/:id/things', reply: made }),
      operation({ method: 'GET', path: '/places/:place_id/things/:thing_id', input }),
      operation({ method: 'DELETE', path: '/places/:place_id/things/:thing_id', input }),
      operation({ method: 'GET', path: '/places/:place_id/things/:thing_id/others', input }),
    ]);
    const parameters = { place_id: '$request.path.id', thing_id: '$response.body#/id' };
    expect(paths['/places/{id}/things']?.post).toHaveProperty('responses.201.links', {
      getPlacesPlaceIdThingsThingId: { operationId: 'getPlacesPlaceIdThingsThingId', parameters },
      deletePlacesPlaceIdThingsThingId: { operationId: 'deletePlacesPlaceIdThingsThingId', parameters },
    });
  });
});

test('what several operations have is written once, under the name of the shortest path', () => {
  const reply = { statuses: [200], schema: record, content: 'json', headers: [] } as const;
  const { components } = describeAll([
    operation({ path: '/others/:id/feature_things', reply: { ...reply, schema: Type.Array(record) } }),
    operation({ reply }),
  ]);
  expect(Object.keys(components.schemas)).toEqual(['Thing', 'Refusal']);
});

test('the order is that of the paths, whatever order the operations come in', () => {
  const some = [
    operation({ path: '/b' }),
    operation({ path: '/a', method: 'PUT' }),
    operation({ path: '/a' }),
  ];
  expect(JSON.stringify(describeAll(some))).toBe(JSON.stringify(describeAll(some.toReversed())));
});

test('an id is made of method and path, and two of one are refused', () => {
  expect(operationId('GET', '/groups/:id/-/epics')).toBe('getGroupsIdDashEpics');
  expect(operationId('DELETE', '/projects/:id/feature_flags/:name')).toBe('deleteProjectsIdFeatureFlagsName');
  expect(() => describeAll([operation({ path: '/a_b' }), operation({ path: '/a/b' })])).toThrow('one id');
});
