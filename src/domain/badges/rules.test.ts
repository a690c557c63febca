/** Addresses of badges and their placeholders. */
import { expect, test } from 'vitest';
import { renderAddress, requireAddresses } from './rules.ts';

test.each([
  'https://example.com/%{project_path}?ref=%{default_branch}',
  'http://%{gitlab_server}/x.svg',
  'HTTPS://example.com/%%7Bproject_id%7D',
])('%s is a web page', (link_url) => {
  expect(() => requireAddresses({ link_url })).not.toThrow();
});

test.each([
  '',
  ' ',
  'javascript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript://example.com/%0aalert(1)',
  'data:text/html,x',
  'http%{project_id}://example.com',
  '%{project_title}:alert(1)',
  '//example.com/x',
  'http://',
])('%j is none', (image_url) => {
  expect(() => requireAddresses({ image_url })).toThrow('Only allowed schemes');
});

const values = new Map([
  ['project_path', 'a group/ö'],
  ['project_title', 'x@evil.example?a=1&b=%2e#'],
  ['gitlab_server', 'localhost:3000'],
  ['long', 'x'.repeat(5000)],
]);

test.each([
  ['http://e/%{project_path}/%%7bproject_path%7D', 'http://e/a%20group/%C3%B6/a%20group/%C3%B6'],
  ['http://e.example%{project_title}', 'http://e.examplex%40evil.example%3Fa%3D1%26b%3D%252e%23'],
  ['http://%{gitlab_server}/', 'http://localhost:3000/'],
  ['http://e/%{latest_tag}%{constructor}%{__proto__}', 'http://e/%{latest_tag}%{constructor}%{__proto__}'],
  ['http://e/%{long}%{long}%{project_path}', `http://e/${'x'.repeat(5000)}%{long}a%20group/%C3%B6`],
])('%s is rendered', (text, rendered) => {
  expect(renderAddress(text, values)).toBe(rendered);
});
