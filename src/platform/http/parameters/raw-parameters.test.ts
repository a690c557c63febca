/** All sources of parameters give the same raw values, and malformed input only Failures. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../failure.ts';
import {
  decodeUtf8,
  isRawObject,
  mergeParameters,
  parseJsonBody,
  parseUrlEncoded,
  type RawObject,
  type RawValue,
} from './raw-parameters.ts';

const failureOf = (run: () => unknown): Failure => {
  try {
    run();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

/** The same value with ordinary prototypes, for `toEqual` and JSON. */
const plain = (value: RawObject): unknown => JSON.parse(JSON.stringify(value));

describe('General request rules: query and form', () => {
  test.each<[string, string, unknown]>([
    ['nothing', '', {}],
    ['plain names', 'a=1&b=2', { a: '1', b: '2' }],
    ['empty pairs', '&&a=1&', { a: '1' }],
    ['an empty text and no text at all', 'a=&b', { a: '', b: null }],
    ['an equals sign in the value', 'a=b=c', { a: 'b=c' }],
    ['the last of a plain name', 'a=1&a=2', { a: '2' }],
    ['a space and a plus', 'a=x+y%2Bz%20w', { a: 'x y+z w' }],
    ['encoded brackets', 'b%5B%5D=x&b%5B%5D=y', { b: ['x', 'y'] }],
    ['an encoded name', 'caf%C3%A9+x=1', { 'café x': '1' }],
    ['an array', 'b[]=x&b[]=y', { b: ['x', 'y'] }],
    ['a hash', 'c[k]=v&c[l][m]=w', { c: { k: 'v', l: { m: 'w' } } }],
    ['an array of hashes', 'd[0][k]=v&d[1][k]=w', { d: [{ k: 'v' }, { k: 'w' }] }],
    ['indexes in any order with gaps', 'd[7]=c&d[0]=a&d[3]=b', { d: ['a', 'b', 'c'] }],
    ['a hash with a key that is no index', 'd[0]=a&d[k]=b', { d: { 0: 'a', k: 'b' } }],
    [
      'hashes that start at a repeated key',
      'd[][k]=1&d[][j]=2&d[][k]=3',
      { d: [{ k: '1', j: '2' }, { k: '3' }] },
    ],
    ['arrays in such hashes', 'd[][k][]=1&d[][k][]=2&d[][j]=3', { d: [{ k: ['1', '2'], j: '3' }] }],
    ['a null item', 'b[]&b[]=x', { b: [null, 'x'] }],
    [
      'brackets that do not pair',
      'a[b=1&[c]=2&d]e[=3&f[g]h=4',
      { 'a[b': '1', '[c]': '2', 'd]e[': '3', 'f[g]h': '4' },
    ],
    ['an index as a plain name', '0=a&1=b', { 0: 'a', 1: 'b' }],
  ])('%s', (_, text, expected) => {
    expect(plain(parseUrlEncoded(text))).toEqual(expected);
  });

  test.each<[string, string, string]>([
    ['half an escape', 'a=%', 'malformed percent-encoding'],
    ['an escape that is no hex', '%zz=1', 'malformed percent-encoding'],
    ['bytes that are not UTF-8', 'a=%ff', 'malformed percent-encoding'],
    ['an encoded surrogate', 'a=%ed%a0%80', 'malformed percent-encoding'],
    ['a raw half pair', 'a=\ud800', 'malformed Unicode'],
    ['a NUL in a value', 'a=x%00y', 'a NUL byte is not allowed'],
    ['a NUL in a name', 'a%00=1', 'a NUL byte is not allowed'],
    ['a raw NUL', 'a=\0', 'a NUL byte is not allowed'],
    ['a value, then a hash', 'a=1&a[b]=2', '"a" is given in conflicting shapes'],
    ['a hash, then a value', 'a[b]=2&a=1', '"a" is given in conflicting shapes'],
    ['an array, then a hash', 'a[]=1&a[b]=2', '"a" is given in conflicting shapes'],
    ['a hash, then an array', 'a[b]=1&a[]=2', '"a" is given in conflicting shapes'],
    ['a null, then a hash', 'a&a[b]=1', '"a" is given in conflicting shapes'],
    ['depth', `a${'[b]'.repeat(16)}=1`, 'parameters are nested deeper than 16 levels'],
    ['a bracket bomb', `a${'[]'.repeat(100_000)}=1`, 'parameters are nested deeper than 16 levels'],
    ['number', 'a[]=1&'.repeat(1001), 'more than 1000 parameters'],
  ])('refuses %s', (_, text, reason) => {
    const failure = failureOf(() => parseUrlEncoded(text));
    expect(failure.status).toBe(400);
    expect(failure.publicMessage).toBe(`400 Bad request - ${reason}`);
  });

  test('takes as much as the limits allow', () => {
    expect(parseUrlEncoded('a[]=1&'.repeat(1000)).a).toHaveLength(1000);
    expect(isRawObject(parseUrlEncoded(`a${'[b]'.repeat(15)}=1`).a)).toBe(true);
    expect(parseUrlEncoded('a[1000]=1').a).toEqual(['1']);
    // A larger index makes no array.
    for (const index of ['1001', '99999999999999999999'])
      expect(parseUrlEncoded(`a[${index}]=1`).a).toEqual({ [index]: '1' });
    expect(() => parseUrlEncoded('a=1&b=2', { pairs: 1 })).toThrow(Failure);
  });

  test.each(['__proto__', 'constructor', 'toString'])('%s is a name like any other', (name) => {
    const parsed = parseUrlEncoded(`${name}[polluted]=yes&a[${name}][polluted]=yes`);
    expect(Object.keys(parsed)).toEqual([name, 'a']);
    expect(parsed[name]).toEqual({ polluted: 'yes' });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(parseUrlEncoded('a=1')[name]).toBeUndefined();
  });
});

describe('General request rules: JSON body', () => {
  test('gives what was sent', () => {
    const body = {
      a: 1,
      b: [true, false, null, 'x'],
      c: { k: 1.5, l: [{ m: '' }] },
      n: Number.MAX_SAFE_INTEGER,
    };
    expect(plain(parseJsonBody(JSON.stringify(body)))).toEqual(body);
    expect(plain(parseJsonBody('  \n'))).toEqual({});
  });

  test('keeps names of the prototype harmless', () => {
    const parsed = parseJsonBody('{"__proto__": {"polluted": 1}, "a": {"constructor": 2}}');
    expect(Object.keys(parsed)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(parsed)).toBeNull();
    expect(Object.getPrototypeOf(parsed.a)).toBeNull();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test.each<[string, string, string]>([
    ['half an object', '{"a":', 'malformed JSON'],
    ['a trailing comma', '{"a":1,}', 'malformed JSON'],
    ['an array', '[1]', 'the JSON body is not an object'],
    ['a text', '"a"', 'the JSON body is not an object'],
    ['null', 'null', 'the JSON body is not an object'],
    ['a NUL in a text', '{"a":["x\\u0000"]}', 'a NUL byte is not allowed'],
    ['a NUL in a name', '{"a":{"\\u0000":1}}', 'a NUL byte is not allowed'],
    ['half a surrogate pair', '{"a":"\\ud800"}', 'malformed Unicode'],
    ['2^53', '{"a":9007199254740992}', 'a number is past 2^53'],
    ['an integer that would be rounded', '{"a":[9007199254740993]}', 'a number is past 2^53'],
    ['-2^53', '{"a":-9007199254740992}', 'a number is past 2^53'],
    ['infinity', '{"a":1e999}', 'a number is past 2^53'],
    ['depth', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'JSON is nested deeper than 100 levels'],
    ['a bomb', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'JSON is nested deeper than 100 levels'],
  ])('refuses %s', (_, text, reason) => {
    const failure = failureOf(() => parseJsonBody(text));
    expect(failure.status).toBe(400);
    expect(failure.publicMessage).toBe(`400 Bad request - ${reason}`);
  });

  test('an escaped backslash before u0000 is no NUL', () => {
    expect(parseJsonBody('{"a":"\\\\u0000"}').a).toBe('\\u0000');
  });
});

test('the path wins over the body, the body over the query', () => {
  const merged = mergeParameters(parseUrlEncoded('id=1&a=1&b=1'), parseJsonBody('{"id":2,"b":2}'), {
    id: '3',
  });
  expect(plain(merged)).toEqual({ id: '3', a: '1', b: 2 });
  expect(() => mergeParameters({}, {}, { id: '\0' })).toThrow(Failure);
});

test('bytes that are not UTF-8 are refused', () => {
  expect(decodeUtf8(Buffer.from('é'))).toBe('é');
  expect(failureOf(() => decodeUtf8(Buffer.from([0x61, 0xff]))).status).toBe(400);
});

const text = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'));
/** Names with brackets, and names that are all indexes, have a meaning in forms. */
const name = text.filter((value) => !/[[\]]|^\d*$/.test(value));
const formValue: fc.Arbitrary<RawValue> = fc.letrec<{ value: RawValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(text, fc.constant(null)),
    fc.array(tie('value'), { minLength: 1, maxLength: 4 }),
    fc.dictionary(name, tie('value'), { minKeys: 1, maxKeys: 4 }),
  ),
})).value;
const parameters: fc.Arbitrary<RawObject> = fc.dictionary(name, formValue, { maxKeys: 5 });

const encode = (path: string, value: RawValue): string[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => encode(`${path}[${index}]`, item));
  if (isRawObject(value))
    return Object.entries(value).flatMap(([key, item]) => encode(`${path}[${key}]`, item));
  return [
    value === null
      ? encodeURIComponent(path)
      : `${encodeURIComponent(path)}=${encodeURIComponent(String(value))}`,
  ];
};
const encodeForm = (value: RawObject): string =>
  Object.entries(value)
    .flatMap(([key, item]) => encode(key, item))
    .join('&');

describe('for any parameters', () => {
  test('a form and a JSON body give the same value', () => {
    fc.assert(
      fc.property(parameters, (value) => {
        const fromJson = parseJsonBody(JSON.stringify(value));
        expect(fromJson).toEqual(value);
        expect(parseUrlEncoded(encodeForm(value))).toEqual(fromJson);
      }),
    );
  });

  test('reading what a reading gave changes nothing', () => {
    fc.assert(
      fc.property(parameters, (value) => {
        const once = parseUrlEncoded(encodeForm(value));
        expect(parseUrlEncoded(encodeForm(once))).toEqual(once);
      }),
    );
  });

  test('the encoder of the platform is understood', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text)), (pairs) => {
        const expected = Object.fromEntries(pairs.map(([key, value]) => [key, value]));
        expect(parseUrlEncoded(new URLSearchParams(pairs).toString())).toEqual(expected);
      }),
    );
  });

  test('any text is read or refused as a bad request', () => {
    const fragment = fc.constantFrom(
      'a',
      '[',
      ']',
      '[]',
      '[0]',
      '[k]',
      '=',
      '&',
      '%',
      '%00',
      '%5B',
      '+',
      '__proto__',
      '{',
      '"',
      ':',
      '1e9',
    );
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fragment).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(hostile, (sent) => {
        for (const parse of [parseUrlEncoded, parseJsonBody]) {
          try {
            expect(Object.getPrototypeOf(parse(sent))).toBeNull();
          } catch (error) {
            if (!(error instanceof Failure)) throw error;
            expect(error.status).toBe(400);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
