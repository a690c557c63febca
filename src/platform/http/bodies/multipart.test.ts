/** Multipart bodies, by FormData, and by hand for malformed ones. */
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../failure.ts';
import { parseUrlEncoded, UploadedFile } from '../parameters/raw-parameters.ts';
import { type MultipartLimits, readMultipart } from './multipart.ts';

const headers = { 'content-type': 'multipart/form-data; boundary=b' };

const read = (
  body: string | Buffer,
  limits?: Partial<MultipartLimits>,
  sent: Record<string, string> = headers,
) => readMultipart(Readable.from([Buffer.from(body)], { objectMode: false }), sent, limits);

const readForm = async (form: FormData, limits?: Partial<MultipartLimits>) => {
  const response = new Response(form);
  const type = response.headers.get('content-type') ?? '';
  return read(Buffer.from(await response.arrayBuffer()), limits, { 'content-type': type });
};

const statusOf = async (reading: Promise<unknown>): Promise<number | string> => {
  try {
    await reading;
    return 'read';
  } catch (error) {
    if (error instanceof Failure) return error.status;
    throw error;
  }
};

const part = (disposition: string, content: string): string =>
  `--b\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;

describe('General request rules: multipart', () => {
  test('fields nest like those of a form', async () => {
    const form = new FormData();
    const pairs = [
      ['a', '1'],
      ['b[]', 'x'],
      ['b[]', 'y'],
      ['c[k]', 'v+w %41'],
      ['d[0][k]', 'v'],
      ['d[1][k]', ''],
      ['é', 'ü😀'],
    ] as const;
    for (const [name, value] of pairs) form.append(name, value);
    expect(await readForm(form)).toEqual({
      a: '1',
      b: ['x', 'y'],
      c: { k: 'v+w %41' },
      d: [{ k: 'v' }, { k: '' }],
      é: 'ü😀',
    });
  });

  test('files come with their name, type and bytes', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 45, 45]);
    const form = new FormData();
    form.append('avatar', new File([bytes], 'é a.png', { type: 'image/png' }));
    form.append('appearance[logo]', new File([], 'empty.svg', { type: 'image/svg+xml' }));
    expect(await readForm(form)).toEqual({
      avatar: new UploadedFile('é a.png', 'image/png', bytes),
      appearance: { logo: new UploadedFile('empty.svg', 'image/svg+xml', Buffer.alloc(0)) },
    });
  });

  test('a file input with nothing chosen is absent; a part without a name is ignored', async () => {
    const body = `${part('name="avatar"; filename=""', '')}${part('filename="x"', 'y')}${part('name="a"', '1')}--b--\r\n`;
    expect(await read(body)).toEqual({ a: '1' });
  });

  test('a filename has no folders', async () => {
    const parsed = await read(`${part('name="f"; filename="../../etc/passwd"', 'x')}--b--`);
    expect(parsed.f).toEqual(new UploadedFile('passwd', 'text/plain', Buffer.from('x')));
  });

  test.each<[string, string, Partial<MultipartLimits>, number | string]>([
    ['no parts', '--b--\r\n', {}, 'read'],
    ['nothing', '', {}, 400],
    ['another boundary', '--c\r\n\r\nx\r\n--c--', {}, 400],
    ['a body cut in a field', part('name="a"', 'x'), {}, 400],
    ['a body cut in a file', part('name="a"; filename="f"', 'x'), {}, 400],
    ['a body cut in a header', '--b\r\ncontent-disp', {}, 400],
    ['a field at its limit', `${part('name="a"', 'xxxx')}--b--`, { fieldBytes: 4 }, 'read'],
    ['a field over its limit', `${part('name="a"', 'xxxxx')}--b--`, { fieldBytes: 4 }, 413],
    ['a file at its limit', `${part('name="a"; filename="f"', 'xxxx')}--b--`, { fileBytes: 4 }, 'read'],
    ['a file over its limit', `${part('name="a"; filename="f"', 'xxxxx')}--b--`, { fileBytes: 4 }, 413],
    ['all parts over their limit', `${part('name="a"', 'xxx').repeat(2)}--b--`, { bodyBytes: 5 }, 413],
    ['parts at their limit', `${part('name="a[]"', 'x').repeat(2)}--b--`, { parts: 2 }, 'read'],
    ['parts over their limit', `${part('name="a[]"', 'x').repeat(3)}--b--`, { parts: 2 }, 400],
    ['a NUL in a field', `${part('name="a"', 'x\0y')}--b--`, {}, 400],
    ['a NUL in a name', `${part('name="a\0"', 'x')}--b--`, {}, 400],
    ['a NUL in a filename', `${part('name="a"; filename="f\0"', 'x')}--b--`, {}, 400],
    ['a NUL in a file', `${part('name="a"; filename="f"', '\0')}--b--`, {}, 'read'],
    ['a conflict of shapes', `${part('name="a"', 'x')}${part('name="a[b]"', 'x')}--b--`, {}, 400],
    ['a bracket bomb', `${part(`name="a${'[]'.repeat(5000)}"`, 'x')}--b--`, {}, 400],
  ])('%s', async (_, body, limits, expected) => {
    expect(await statusOf(read(body, limits))).toBe(expected);
  });

  test('text that is not UTF-8 is refused, bytes of a file are not', async () => {
    const latin = (disposition: string) => Buffer.from(`${part(disposition, '\xff')}--b--`, 'latin1');
    expect(await statusOf(read(latin('name="a"')))).toBe(400);
    expect(await read(latin('name="a"; filename="f"'))).toEqual({
      a: new UploadedFile('f', 'text/plain', Buffer.from([255])),
    });
  });

  test('the content type must be multipart with a boundary', async () => {
    expect(await statusOf(read('', {}, { 'content-type': 'multipart/form-data' }))).toBe(400);
    expect(await statusOf(read('', {}, { 'content-type': 'application/x-www-form-urlencoded' }))).toBe(415);
    expect(await statusOf(read('', {}, {}))).toBe(415);
  });

  test('a client that goes away in the middle is a bad request', async () => {
    const stream = new Readable({ read() {} });
    const reading = statusOf(readMultipart(stream, headers));
    stream.push(part('name="a"', 'x'));
    stream.destroy();
    expect(await reading).toBe(400);
  });

  test('the default limit of a file is 200 KiB', async () => {
    const form = (size: number) => {
      const data = new FormData();
      data.append('avatar', new File([Buffer.alloc(size)], 'a.png'));
      return data;
    };
    expect(await statusOf(readForm(form(200 * 1024)))).toBe('read');
    expect(await statusOf(readForm(form(200 * 1024 + 1)))).toBe(413);
  });
});

describe('for any body', () => {
  test('a multipart form and a url-encoded form give the same value', async () => {
    // FormData rewrites line ends, and escapes quotes and line ends in names.
    const name = fc.string({ unit: 'grapheme' }).filter((text) => !/["\\\r\n\0]|^$/.test(text));
    const value = fc.string({ unit: 'grapheme' }).filter((text) => !/[\r\n\0]/.test(text));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 5 }), async (pairs) => {
        const form = new FormData();
        for (const [key, text] of pairs) form.append(key, text);
        expect(await readForm(form)).toEqual(parseUrlEncoded(new URLSearchParams(pairs).toString()));
      }),
    );
  });

  test('any bytes in any pieces are read or refused with a status', async () => {
    const fragment = fc.constantFrom(
      '--b',
      '--b--',
      '\r\n',
      '\r\n\r\n',
      'content-disposition: form-data; name="a"',
      '; filename="f"',
      '; name="a[',
      'x',
      '\0',
      '\xff',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fragment, { maxLength: 20 }), async (fragments) => {
        const pieces = fragments.map((text) => Buffer.from(text, 'latin1'));
        const stream = Readable.from(pieces, { objectMode: false });
        expect(['read', 400]).toContain(await statusOf(readMultipart(stream, headers)));
      }),
      { numRuns: 300 },
    );
  });
});
