/** The description of the API: valid, the committed one, and made of schemas that the program can use. */
import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { openApiText } from '../../src/commands/openapi.ts';
import { contentTypesOf, noContent } from '../../src/kernel/api/endpoint.ts';
import { pictureTypes } from '../../src/kernel/files/pictures.ts';
import { compileDecoder } from '../../src/platform/http/parameters/decode.ts';
import { serializerOf } from '../../src/platform/http/serialize.ts';
import { useApp } from '../support/app.ts';
import { titleOf } from '../support/inventory.ts';

const ashlar = useApp();
const text = openApiText();

type Operation = { operationId: string; security: object[]; parameters?: object[]; responses: object };
type Document = { paths: Record<string, Record<string, Operation>>; components: Record<string, object> };

test('a public validator accepts the document', async () => {
  const { valid, errors } = await new Validator().validate(JSON.parse(text));
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
});

test('the document is the committed one: a change of the API shows in review', () => {
  expect(`${text}\n` === readFileSync('openapi.json', 'utf8'), 'run `npm run generate`').toBe(true);
});

test('it is served to everybody, and as a page', async () => {
  const served = await ashlar.call('GET /openapi.json');
  expect(served.status).toBe(200);
  expect(served.body).toEqual(JSON.parse(text));
  const page = await ashlar.call('GET /api/docs', { raw: true });
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  for (const { path } of ashlar.app.endpoints) expect(page.text).toContain(path);
});

test('each endpoint is one operation, with its own id, its path parameters and whether it is open to everybody', async () => {
  const document: Document = JSON.parse(text);
  const { parameters: shared = {} } = document.components;
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ashlar.app.endpoints.length);
  for (const { method, path, access } of ashlar.app.endpoints) {
    const operation = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
    const open = operation?.security.some((scheme) => Object.keys(scheme).length === 0);
    expect([method, path, open]).toEqual([method, path, access.anonymous]);
    const parameters = JSON.stringify([operation?.parameters, shared]);
    for (const [, name] of path.matchAll(/:(\w+)/g))
      expect(parameters).toContain(`{"name":"${name}","in":"path"`);
  }
});

test('a body that needs a file is multipart alone, and says which types are taken', () => {
  const bodyOf = (path: string, method: string) => {
    const document = JSON.parse(text);
    const { content } = document.paths[path][method].requestBody;
    const { schema, encoding } = content['multipart/form-data'];
    const { required } = document.components.schemas[schema.$ref.split('/').at(-1)];
    return { types: Object.keys(content), required, encoding };
  };
  for (const path of ['/projects/{id}/uploads', '/groups/{id}/uploads', '/projects/{id}/wikis/attachments'])
    expect(bodyOf(path, 'post')).toEqual({ types: ['multipart/form-data'], required: ['file'] });
  const pictures = { contentType: pictureTypes.join(', ') };
  expect(bodyOf('/projects/{id}/issues/{issue_iid}/metric_images', 'post')).toEqual({
    types: ['multipart/form-data'],
    required: ['file'],
    encoding: { file: pictures },
  });
  expect(bodyOf('/user/avatar', 'put').encoding).toEqual({ avatar: pictures });
});

test('every reference leads to something, and what several operations share is written once', () => {
  const document: Document = JSON.parse(text);
  const references = new Set(
    [...text.matchAll(/"\$ref": ?"#\/components\/(\w+)\/([\w-]+)"/g)].map(
      ([, kind, name]) => `${kind}/${name}`,
    ),
  );
  const written = ['schemas', 'parameters', 'responses', 'headers'].flatMap((kind) =>
    Object.keys(document.components[kind] ?? {}).map((name) => `${kind}/${name}`),
  );
  expect([...references].filter((each) => !written.includes(each))).toEqual([]);
  expect(written.filter((each) => !references.has(each))).toEqual([]);
});

test('every input can be decoded and every reply serialised', () => {
  for (const spec of ashlar.app.endpoints) {
    expect(() => compileDecoder(spec.input), titleOf(spec)).not.toThrow();
    if (contentTypesOf(spec.reply) || spec.reply === noContent) continue;
    expect(() => serializerOf(spec.reply), titleOf(spec)).not.toThrow();
  }
});
