/** Cases of addresses. */
import { expect, test } from 'vitest';
import { serverOf } from './predefined.ts';

test.each([
  ['https://ashlar.example', 'ashlar.example:443'],
  ['https://ashlar.example/below', 'ashlar.example:443'],
  ['http://ashlar.example', 'ashlar.example:80'],
  ['http://127.0.0.1:8080', '127.0.0.1:8080'],
  ['https://[::1]', '[::1]:443'],
])('images of %s are at %s', (baseUrl, server) => expect(serverOf(baseUrl)).toBe(server));
