import { encode } from 'uqr';
import { expect, test } from 'vitest';
import { qrCode } from './qr-code.ts';

const URI = 'otpauth://totp/ashlar:ada?secret=JBSWY3DPEHPK3PXP&issuer=site.example';

/** The modules that the path paints. */
function painted(svg: string, size: number): boolean[][] {
  const rows = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(length));
  return rows;
}

test('the picture shows the code, with four empty modules around it', () => {
  const { text } = qrCode(URI, 'a label');
  const { data, size } = encode(URI, { ecc: 'M', border: 4 });
  expect(painted(text, size)).toEqual(data);
  expect(data.slice(0, 4).flat().includes(true)).toBe(false);
  expect(text).toContain(`viewBox="0 0 ${size} ${size}"`);
});

test('it is dark on light in every theme, without styles of its own, and has a name', () => {
  const { text } = qrCode(URI, 'The "key"');
  expect(text).toContain('role="img" aria-label="The &quot;key&quot;"');
  expect(text).toMatch(/<rect [^>]*fill="#fff"/);
  expect(text).toMatch(/<path fill="#000"/);
  expect(text).not.toMatch(/style|<script|currentColor/);
});
