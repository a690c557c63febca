/** Declared types with values of every source, and the spec's "Error bodies". */
import fc from 'fast-check';
import { type Static, type TSchema, Type } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { Failure, type ValidationMessages } from '../../failure.ts';
import { compileDecoder } from './decode.ts';
import { parseJsonBody, parseUrlEncoded, type RawValue, UploadedFile } from './raw-parameters.ts';
import { commaList, date, dateTime, file, integerId, nullable, stringEnum } from './schema.ts';

const failureOf = (run: () => unknown): Failure => {
  try {
    run();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

/** Decodes one parameter `x`; returns a refusal's message. */
const decodeOne = (schema: TSchema, raw: RawValue): unknown => {
  const decode = compileDecoder(Type.Object({ x: schema }));
  try {
    return (decode({ x: raw }) as { x: unknown }).x;
  } catch (error) {
    if (!(error instanceof Failure) || typeof error.publicMessage === 'string') throw error;
    return { refused: (error.publicMessage as ValidationMessages).x };
  }
};

const invalid = { refused: ['is invalid'] };
const notAllowed = { refused: ['does not have a valid value'] };

const sort = stringEnum(['asc', 'desc']);
const level = Type.Union([Type.Literal(10), Type.Literal(20)]);
const upload = new UploadedFile('a.png', 'image/png', Buffer.from('png'));

describe('a value becomes its declared type', () => {
  test.each<[string, TSchema, RawValue, unknown]>([
    ['text', Type.String(), 'x', 'x'],
    ['the empty text', Type.String(), '', ''],
    ['text from an integer', Type.String(), 12, '12'],
    ['no text from a fraction', Type.String(), 1.5, invalid],
    ['no text from a boolean', Type.String(), true, invalid],
    ['no text from null', Type.String(), null, invalid],
    ['no text from an array', Type.String(), ['x'], invalid],
    ['no text from a hash', Type.String(), { k: 'x' }, invalid],
    ['no text from a file', Type.String(), upload, invalid],
    [
      'long text',
      Type.String({ maxLength: 255 }),
      'é'.repeat(256),
      { refused: ['is too long (maximum is 255 characters)'] },
    ],
    ['characters, not code units', Type.String({ maxLength: 2, minLength: 2 }), '😀😀', '😀😀'],
    [
      'short text',
      Type.String({ minLength: 2 }),
      '😀',
      { refused: ['is too short (minimum is 2 characters)'] },
    ],
    [
      'one character',
      Type.String({ minLength: 1 }),
      '',
      { refused: ['is too short (minimum is 1 character)'] },
    ],
    ['a pattern', Type.String({ pattern: '^[a-z]+$' }), 'abc', 'abc'],
    ['a pattern not met', Type.String({ pattern: '^[a-z]+$' }), 'ABC', invalid],

    ['an integer', Type.Integer(), 30, 30],
    ['an integer from text', Type.Integer(), '-30', -30],
    ['no integer from a fraction', Type.Integer(), 1.5, invalid],
    ['no integer from text of a fraction', Type.Integer(), '1.0', invalid],
    ['no integer from other text', Type.Integer(), '0x1f', invalid],
    ['no integer from empty text', Type.Integer(), '', invalid],
    ['no integer from a boolean', Type.Integer(), true, invalid],
    ['no integer from null', Type.Integer(), null, invalid],
    ['no integer from an array', Type.Integer(), [1], invalid],
    ['the largest integer', Type.Integer(), '9007199254740991', Number.MAX_SAFE_INTEGER],
    ['no integer past 2^53', Type.Integer(), '9007199254740993', invalid],
    ['no integer of a thousand digits', Type.Integer(), '9'.repeat(1000), invalid],
    ['a minimum', integerId(), '0', notAllowed],
    ['a maximum', Type.Integer({ maximum: 100 }), 101, notAllowed],

    ['a number', Type.Number(), '-1.5e2', -150],
    ['no number from text', Type.Number(), 'NaN', invalid],
    ['no number past 2^53', Type.Number(), '1e99', invalid],

    ...[true, 'true', 1, '1'].map<[string, TSchema, RawValue, unknown]>((raw) => [
      'true',
      Type.Boolean(),
      raw,
      true,
    ]),
    ...[false, 'false', 0, '0'].map<[string, TSchema, RawValue, unknown]>((raw) => [
      'false',
      Type.Boolean(),
      raw,
      false,
    ]),
    ...['', 'yes', 'TRUE', 2, null, [true]].map<[string, TSchema, RawValue, unknown]>((raw) => [
      'no boolean',
      Type.Boolean(),
      raw,
      invalid,
    ]),

    ['a word of a list', sort, 'asc', 'asc'],
    ['a word of a TypeBox enum', Type.Enum(['a', 'b']), 'b', 'b'],
    ['a word of a literal union', Type.Union([Type.Literal('a'), Type.Literal('b')]), 'b', 'b'],
    ['another word', sort, 'up', notAllowed],
    ['no word', sort, '', notAllowed],
    ['a hash for a word', sort, {}, invalid],
    ['null for a word', sort, null, invalid],
    ['an inherited name for a word', sort, 'constructor', notAllowed],
    ['a number of a list', level, '20', 20],
    ['another number', level, 30, notAllowed],
    ['a word for a number of a list', level, 'x', invalid],
    ['one literal', Type.Literal('keyset'), 'keyset', 'keyset'],
    ['a boolean for a list with such words', stringEnum(['true', 'false', 'only']), true, 'true'],

    ['a day', date(), '2024-02-29', '2024-02-29'],
    ['a day of an instant, as written', date(), '2024-01-05T23:30:00-05:00', '2024-01-05'],
    ['a day that is not', date(), '2023-02-29', invalid],
    ['no day', date(), '', invalid],
    ['year zero', date(), '0000-01-01', invalid],
    ['an instant', dateTime(), '2024-01-05T10:00:00.1234+02:00', '2024-01-05T08:00:00.123Z'],
    ['an instant without seconds', dateTime(), '2024-01-05 10:00', '2024-01-05T10:00:00.000Z'],
    ['an instant of a day', dateTime(), '2024-01-05', '2024-01-05T00:00:00.000Z'],
    ['an instant as Ruby writes it', dateTime(), '2024-01-05 10:00:00 UTC', '2024-01-05T10:00:00.000Z'],
    ['an instant whose plus became a space', dateTime(), '2024-01-05T10:00:00 02:00', invalid],
    ['an hour that is not', dateTime(), '2024-01-05T24:00:00Z', invalid],
    ['an instant past year 9999', dateTime(), '9999-12-31T23:00:00-02:00', invalid],
    ['a number for an instant', dateTime(), 1700000000, invalid],

    ['an array', Type.Array(Type.Integer()), ['1', 2], [1, 2]],
    ['an array of one value', Type.Array(Type.Integer()), '1', [1]],
    ['an empty array from null', Type.Array(Type.Integer()), null, []],
    ['an empty array from empty text', Type.Array(Type.String()), '', []],
    ['an empty array from one empty item', Type.Array(Type.Integer()), [''], []],
    ['an empty text in an array of texts', Type.Array(Type.String()), [''], ['']],
    ['no array from a hash', Type.Array(Type.String()), { k: '1' }, invalid],
    ['items of another type, once', Type.Array(Type.Integer()), ['a', 'b'], invalid],
    ['null among items', Type.Array(Type.Integer()), [1, null], invalid],
    ['commas where they do not separate', Type.Array(Type.String()), 'a,b', ['a,b']],
    ['commas', commaList(Type.String()), 'a, b,,c ', ['a', 'b', 'c']],
    ['commas among items', commaList(Type.Integer()), ['1,2', 3], [1, 2, 3]],
    [
      'more commas than a body has values',
      commaList(Type.String()),
      'a,'.repeat(100_001),
      { refused: ['is too long (maximum is 100000 items)'] },
    ],
    [
      'too many items',
      Type.Array(Type.String(), { maxItems: 1 }),
      ['a', 'b'],
      { refused: ['is too long (maximum is 1 item)'] },
    ],
    [
      'too few items',
      Type.Array(Type.String(), { minItems: 2 }),
      ['a'],
      { refused: ['is too short (minimum is 2 items)'] },
    ],
    [
      'an array of hashes',
      Type.Array(Type.Object({ k: Type.Integer() })),
      [{ k: '1' }, { k: '2', j: '3' }],
      [{ k: 1 }, { k: 2 }],
    ],

    ['a hash', Type.Object({ k: Type.Boolean() }), { k: '1' }, { k: true }],
    ['no hash from text', Type.Object({}), 'x', invalid],
    ['no hash from an array', Type.Object({}), [], invalid],
    [
      'a record',
      Type.Record(Type.String(), Type.Integer()),
      { a: '1', constructor: 2 },
      { a: 1, constructor: 2 },
    ],
    ['a record with a wrong value', Type.Record(Type.String(), Type.Integer()), { a: 'x' }, invalid],
    [
      'a record of more than a hundred',
      Type.Record(Type.String(), Type.Integer()),
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, 1])),
      { refused: ['is too long (maximum is 100 items)'] },
    ],
    [
      'a free object',
      Type.Object({}, { additionalProperties: true }),
      { a: { b: [1, null] } },
      { a: { b: [1, null] } },
    ],
    [
      'declared beside free',
      Type.Object({ a: Type.Integer() }, { additionalProperties: Type.String() }),
      { a: '1', toString: '2' },
      { a: 1, toString: '2' },
    ],
    ['anything', Type.Unknown(), { a: [null, 1, 'x'] }, { a: [null, 1, 'x'] }],
    ['null as anything', Type.Unknown(), null, null],
    ['a file as anything', Type.Unknown(), upload, invalid],
    ['a file', file(), upload, upload],
    ['text for a file', file(), 'x', invalid],
    ['the first alternative that fits', Type.Union([Type.Integer(), Type.String()]), '5', 5],
    ['the second alternative', Type.Union([Type.Integer(), Type.String()]), 'five', 'five'],
    ['no alternative', Type.Union([Type.Integer(), Type.String()]), {}, invalid],
  ])('%s', (_, schema, raw, expected) => {
    expect(decodeOne(schema, raw)).toEqual(expected);
  });

  test.each<[string, TSchema, RawValue, unknown]>([
    ['null', Type.Boolean(), null, null],
    ['false', Type.Boolean(), false, false],
    ['true', Type.Boolean(), 'true', true],
    ['an empty form field for a boolean', Type.Boolean(), '', null],
    ['an empty form field for an integer', Type.Integer(), '', null],
    ['an empty form field for a day', date(), '', null],
    ['an empty form field for a word', sort, '', null],
    ['an empty form field for a file', file(), '', null],
    ['an empty form field for a hash', Type.Object({ k: Type.String() }), '', null],
    ['an empty text', Type.String(), '', ''],
    ['null for text', Type.String(), null, null],
    ['null for a word', sort, null, null],
    ['null for an array', Type.Array(Type.Integer()), null, null],
    ['zero', Type.Integer(), 0, 0],
    ['a wrong value', Type.Integer(), 'x', invalid],
  ])('nullable: %s', (_, schema, raw, expected) => {
    expect(decodeOne(nullable(schema), raw)).toEqual(expected);
  });

  test('null, false, true and absent are four things in every source', () => {
    const decode = compileDecoder(Type.Object({ x: Type.Optional(nullable(Type.Boolean())) }));
    for (const source of [parseUrlEncoded('x'), parseUrlEncoded('x='), parseJsonBody('{"x":null}')]) {
      expect(decode(source)).toStrictEqual({ x: null });
    }
    for (const source of [parseUrlEncoded('x=false'), parseJsonBody('{"x":false}')]) {
      expect(decode(source)).toStrictEqual({ x: false });
    }
    for (const source of [parseUrlEncoded('x=true'), parseJsonBody('{"x":true}')]) {
      expect(decode(source)).toStrictEqual({ x: true });
    }
    for (const source of [parseUrlEncoded(''), parseJsonBody('{}')]) expect(decode(source)).toStrictEqual({});
  });
});

describe('Error bodies', () => {
  const decode = compileDecoder(
    Type.Object({
      name: Type.String({ maxLength: 3 }),
      path: Type.String(),
      per_page: Type.Optional(Type.Integer()),
      sort: Type.Optional(sort),
      rules: Type.Optional(
        Type.Object({ level: Type.Integer(), days: Type.Optional(Type.Array(Type.Integer())) }),
      ),
      list: Type.Optional(Type.Array(Type.Object({ k: Type.Integer(), j: Type.Optional(Type.Boolean()) }))),
    }),
  );

  test.each<[string, string, unknown, string]>([
    ['one missing', '{"name":"a"}', '400 Bad request - "path" not given', 'path is missing'],
    [
      'several missing',
      '{}',
      '400 Bad request - "name" not given, "path" not given',
      'name is missing, path is missing',
    ],
    [
      'missing within',
      '{"name":"a","path":"b","rules":{}}',
      '400 Bad request - "rules[level]" not given',
      'rules[level] is missing',
    ],
    [
      'missing wins over invalid',
      '{"name":"long","sort":"x"}',
      '400 Bad request - "path" not given',
      'name is too long (maximum is 3 characters), path is missing, sort does not have a valid value',
    ],
    ['null for a required one', '{"name":null,"path":"b"}', { name: ['is invalid'] }, 'name is invalid'],
    [
      'several invalid',
      '{"name":"a","path":"b","per_page":"x","sort":"x"}',
      { per_page: ['is invalid'], sort: ['does not have a valid value'] },
      'per_page is invalid, sort does not have a valid value',
    ],
    [
      'nested',
      '{"name":"a","path":"b","rules":{"level":"x","days":[1,"y","z"]}}',
      { rules: { level: ['is invalid'], days: ['is invalid'] } },
      'rules[level] is invalid, rules[days] is invalid',
    ],
    [
      'items of an array',
      '{"name":"a","path":"b","list":[{"k":"x"},{"k":"y","j":3}]}',
      { list: { k: ['is invalid'], j: ['is invalid'] } },
      'list[k] is invalid, list[j] is invalid',
    ],
    [
      'an item wrong as a whole',
      '{"name":"a","path":"b","list":[1,{"k":"y"}]}',
      { list: ['is invalid'] },
      'list is invalid, list[k] is invalid',
    ],
    [
      'an item wrong as a whole, later',
      '{"name":"a","path":"b","list":[{"k":"y"},1]}',
      { list: { k: ['is invalid'] } },
      'list[k] is invalid, list is invalid',
    ],
  ])('%s', (_, body, message, error) => {
    const failure = failureOf(() => decode(parseJsonBody(body)));
    expect(failure.status).toBe(400);
    expect(failure.publicMessage).toEqual(message);
    expect(failure.details.error).toBe(error);
  });
});

test('unknown parameters are ignored, absent ones stay absent, defaults are new each time', () => {
  const decode = compileDecoder(
    Type.Object({
      page: Type.Integer({ default: 1 }),
      scopes: Type.Array(Type.String(), { default: ['api'] }),
      active: Type.Boolean({ default: false }),
      search: Type.Optional(Type.String()),
    }),
  );
  const first = decode(parseUrlEncoded('private_token=x&toString=y'));
  expect(first).toStrictEqual({ page: 1, scopes: ['api'], active: false });
  first.scopes.push('sudo');
  expect(decode(parseUrlEncoded('page=2')).scopes).toEqual(['api']);
  expect(decode(parseUrlEncoded('page=2&search=')).search).toBe('');
});

describe('null for an optional parameter', () => {
  const optional = {
    text: Type.Optional(Type.String()),
    word: Type.Optional(sort),
    level: Type.Optional(level),
    count: Type.Optional(Type.Integer()),
    on: Type.Optional(Type.Boolean()),
    day: Type.Optional(date()),
    file: Type.Optional(file()),
    hash: Type.Optional(Type.Object({ k: Type.Integer() })),
    either: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  };
  const sent = Object.fromEntries(Object.keys(optional).map((name) => [name, null]));

  test('that is not nullable is as if it were not given, in every source', () => {
    const decode = compileDecoder(Type.Object(optional));
    expect(decode(parseJsonBody(JSON.stringify(sent)))).toStrictEqual({});
    expect(decode(parseUrlEncoded(Object.keys(optional).join('&')))).toStrictEqual({});
  });

  test('is so within hashes and arrays of hashes too, and leaves the rest as it was', () => {
    const decode = compileDecoder(
      Type.Object({ one: Type.Object(optional), many: Type.Array(Type.Object(optional)) }),
    );
    expect(decode({ one: { ...sent, count: 1 }, many: [sent, { ...sent, on: 'false' }] })).toStrictEqual({
      one: { count: 1 },
      many: [{}, { on: false }],
    });
  });

  test('with a default gives the default, declared optional or not', () => {
    const decode = compileDecoder(
      Type.Object({ page: Type.Integer({ default: 1 }), per: Type.Optional(Type.Integer({ default: 20 })) }),
    );
    expect(decode({ page: null, per: null })).toStrictEqual({ page: 1, per: 20 });
  });

  test('stays null where it is a value, and the empty array where it is a list', () => {
    const values = {
      due: Type.Optional(nullable(date({ default: '2024-01-05' }))),
      any: Type.Optional(Type.Unknown()),
      ids: Type.Optional(Type.Array(Type.Integer(), { default: [1] })),
      words: Type.Optional(commaList(Type.String())),
      some: Type.Optional(Type.Union([Type.Array(Type.Integer()), Type.Boolean()])),
    };
    const decode = compileDecoder(Type.Object(values));
    expect(decode({ due: null, any: null, ids: null, words: null, some: null })).toStrictEqual({
      due: null,
      any: null,
      ids: [],
      words: [],
      some: [],
    });
  });

  test('is still wrong for a required one, wherever it stands', () => {
    const decode = compileDecoder(
      Type.Object({ k: Type.Integer(), rules: Type.Optional(Type.Object({ k: Type.Integer() })) }),
    );
    const failure = failureOf(() => decode({ k: null, rules: { k: null } }));
    expect(failure.publicMessage).toEqual({ k: ['is invalid'], rules: { k: ['is invalid'] } });
  });
});

test('a schema without a rule is refused when it is declared', () => {
  const declared = [
    Type.Integer(),
    Type.Object({ x: Type.Null() }),
    Type.Object({ x: Type.Intersect([Type.Object({})]) }),
  ];
  for (const schema of declared) expect(() => compileDecoder(schema)).toThrow(Error);
  expect(() => nullable(Type.Union([Type.Integer(), Type.String()]))).toThrow('nullable()');
});

test('builders have the types that their values decode to', () => {
  const schema = Type.Object({
    due: nullable(date()),
    sort: Type.Optional(sort),
    ids: commaList(integerId()),
    avatar: nullable(file()),
  });
  expectTypeOf<Static<typeof schema>>().toEqualTypeOf<{
    due: string | null;
    sort?: 'asc' | 'desc';
    ids: number[];
    avatar: UploadedFile | null;
  }>();
  expect(nullable(date())).toEqual({ type: ['string', 'null'], format: 'date' });
  expect(nullable(sort)).toEqual({ type: ['string', 'null'], enum: ['asc', 'desc', null] });
  expect(nullable(nullable(sort))).toEqual(nullable(sort));
});

const everything = Type.Object({
  text: nullable(Type.String()),
  count: Type.Integer(),
  ratio: Type.Number(),
  on: nullable(Type.Boolean()),
  sort: Type.Optional(sort),
  at: dateTime(),
  ids: Type.Array(Type.Integer(), { minItems: 0 }),
  rules: Type.Optional(Type.Object({ k: Type.String(), l: Type.Array(Type.Object({ m: Type.Integer() })) })),
});

describe('for any values', () => {
  const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'));
  const integer = fc.maxSafeInteger();
  const value: fc.Arbitrary<Static<typeof everything>> = fc.record(
    {
      text: fc.option(text),
      count: integer,
      ratio: fc
        .double({ noNaN: true, noDefaultInfinity: true, min: -9e15, max: 9e15 })
        .filter((number) => !Object.is(number, -0)),
      on: fc.option(fc.boolean()),
      sort: fc.constantFrom('asc' as const, 'desc' as const),
      at: fc
        .date({
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59.999Z'),
          noInvalidDate: true,
        })
        .map((time) => time.toISOString()),
      ids: fc.array(integer, { minLength: 1 }),
      rules: fc.record({ k: text, l: fc.array(fc.record({ m: integer }), { minLength: 1 }) }),
    },
    { requiredKeys: ['text', 'count', 'ratio', 'on', 'at', 'ids'] },
  );

  const encode = (path: string, sent: unknown): string[] => {
    if (Array.isArray(sent)) return sent.flatMap((item, index) => encode(`${path}[${index}]`, item));
    if (typeof sent === 'object' && sent !== null) {
      return Object.entries(sent).flatMap(([key, item]) =>
        encode(path === '' ? key : `${path}[${key}]`, item),
      );
    }
    return [sent === null ? path : `${path}=${encodeURIComponent(String(sent))}`];
  };

  test('form and JSON decode to what was sent, and decoding again changes nothing', () => {
    const decode = compileDecoder(everything);
    fc.assert(
      fc.property(value, (sent) => {
        const fromJson = decode(parseJsonBody(JSON.stringify(sent)));
        expect(fromJson).toEqual(sent);
        expect(decode(parseUrlEncoded(encode('', sent).join('&')))).toEqual(sent);
        expect(decode(parseJsonBody(JSON.stringify(fromJson)))).toEqual(fromJson);
      }),
    );
  });

  test.each([
    ['a record takes names of digits', Type.Record(Type.String(), Type.Integer()), { 3: 1, 7: 2 }],
    ['and those that no list has', Type.Record(Type.String(), Type.Integer()), { 5000: 1 }],
    ['a list takes indexes', Type.Array(Type.Integer()), [1, 2]],
    ['declared names are none', Type.Object({ a: Type.Optional(Type.Integer()) }), 'x is invalid'],
  ])('in brackets %s', (_, schema, expected) => {
    const text = typeof expected === 'object' && '5000' in expected ? 'x[5000]=1' : 'x[3]=1&x[7]=2';
    const decode = compileDecoder(Type.Object({ x: schema }));
    if (typeof expected === 'string')
      expect(failureOf(() => decode(parseUrlEncoded(text))).details.error).toBe(expected);
    else expect(decode(parseUrlEncoded(text))).toEqual({ x: expected });
  });

  test('an index that no list has is refused', () => {
    const decode = compileDecoder(Type.Object({ x: Type.Array(Type.Integer()) }));
    for (const index of ['1001', '99999999999999999999'])
      expect(failureOf(() => decode(parseUrlEncoded(`x[${index}]=1`))).details.error).toBe('x is invalid');
    expect(failureOf(() => decode(parseJsonBody('{"x": {"0": 1}}'))).details.error).toBe('x is invalid');
  });

  test('any JSON decodes or is refused as a bad request', () => {
    const decode = compileDecoder(everything);
    const names = Object.keys(everything.properties);
    const anything = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), fc.jsonValue());
    fc.assert(
      fc.property(anything, (sent) => {
        try {
          const optional = ['sort', 'rules'];
          expect(Object.keys(decode(parseJsonBody(JSON.stringify(sent))) as object)).toEqual(
            names.filter(
              (name) => Object.hasOwn(sent, name) && !(optional.includes(name) && sent[name] === null),
            ),
          );
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          expect(error.status).toBe(400);
          expect(error.details.error).not.toBe('');
        }
      }),
    );
  });
});
