import { expect, test } from 'vitest';
import { describeUserAgent } from './user-agent.ts';

const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const CHROMIUM = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROMIUM} Safari/537.36`, 'Chrome on Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROMIUM} Safari/537.36 Edg/142.0.0.0`, 'Edge on Windows'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${CHROMIUM} Safari/537.36 OPR/120.0`, 'Opera on Linux'],
  [`Mozilla/5.0 (Linux; Android 15; K) ${CHROMIUM} Mobile Safari/537.36`, 'Chrome on Android'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROMIUM} Safari/537.36`, 'Chrome on ChromeOS'],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${WEBKIT} Version/18.1 Mobile/15E148 Safari/604.1`,
    'Safari on iPhone',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${WEBKIT} CriOS/142.0 Mobile/15E148 Safari/604.1`,
    'Chrome on iPhone',
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/18.1 Safari/605.1.15`,
    'Safari on macOS',
  ],
  ['Mozilla/5.0 (Windows NT 10.0) Unheard/1.0', 'Unknown browser on Windows'],
  ['curl/8.14.1', 'curl 8.14.1'],
  ['node', 'node'],
  ['<script>alert(1)</script>', 'Unknown browser'],
  ['', 'Unknown browser'],
  [null, 'Unknown browser'],
])('%s is %s', (header, words) => {
  expect(describeUserAgent(header)).toBe(words);
});
