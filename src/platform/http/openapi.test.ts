/** How parameters, bodies and shared records are described. */
import { type TObject, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type Operation, openApiDocument, operationId } from './openapi.ts';
import { commaList, file } from './schema.ts';

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
  reply: { status: 200, schema: Type.Object({}), content: 'none', headers: [] },
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
    const list = { type: 'array', items: { type: 'string' } };
    const filter = { type: 'object', required: ['key'], properties: { key: { type: 'string' } } };
    expect(paths['/things/{id}']?.get).toEqual({
      operationId: 'getThingsId',
      summary: 'A thing.',
      tags: ['things'],
      security: [{}, { token: [] }],
      parameters: [
        { name: 'id', in: 'path', required: true, description: 'Which.', schema: { type: 'integer' } },
        { name: 'states[]', in: 'query', style: 'form', explode: true, required: true, schema: list },
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
    [{ avatar: file() }, ['multipart/form-data', 'application/json', 'application/x-www-form-urlencoded']],
  ])('that writes has them in a body', (properties, types) => {
    const { paths, components } = describeAll([
      operation({ method: 'POST', path: '/things', input: Type.Object(properties) }),
    ]);
    const schema = { $ref: '#/components/schemas/PostThingsBody' };
    const content = Object.fromEntries(types.map((type) => [type, { schema }]));
    expect(paths['/things']?.post).toMatchObject({ requestBody: { content } });
    expect(paths['/things']?.post).not.toHaveProperty('parameters');
    expect(Object.keys(components.schemas)).toEqual(['PostThingsBody', 'Refusal']);
  });
});

test('what several operations have is written once, under the name of the shortest path', () => {
  const reply = { status: 200, schema: record, content: 'json', headers: [] } as const;
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
