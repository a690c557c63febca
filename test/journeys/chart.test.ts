/** The chart: read by helm, and what it makes by kubectl-validate, which knows the schemas of Kubernetes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { helm, render, type Values } from './chart.ts';
import { runGo } from './programs.ts';
import { cleanUp, makeFolder } from './support.ts';

afterAll(() => cleanUp());

const least: Values = { url: 'https://code.example.org:8443', secret: 'ashlar' };
const most: Values = {
  ...least,
  replicas: '2',
  'persistence.accessMode': 'ReadWriteMany',
  'persistence.storageClass': 'shared',
  'persistence.size': '1Ti',
  'ingress.enabled': 'true',
  'ingress.className': 'nginx',
  'ingress.annotations.nginx\\.ingress\\.kubernetes\\.io/proxy-body-size': '0',
  'ingress.tlsSecret': 'certificate',
  'env.SMTP_URL': 'smtp://mail.example.org:587',
  'env.ASHLAR_MAX_OFFSET': '0',
};
const ownClaim: Values = { ...least, 'persistence.existingClaim': 'stones' };

type Manifest = { kind: string; spec: Record<string, unknown> };
const manifests = (text: string): Manifest[] => parseAllDocuments(text).map((each) => each.toJS());

test.each([
  ['the least', least, 'Deployment PersistentVolumeClaim Service'],
  ['the most', most, 'Deployment Ingress PersistentVolumeClaim Service'],
  ["a volume of one's own", ownClaim, 'Deployment Service'],
])('with %s, helm and Kubernetes find no fault', async (_, values, kinds) => {
  const { code, output } = await helm(['lint', '--strict'], values);
  expect(code, output).toBe(0);
  const folder = makeFolder();
  const text = await render('stones', values);
  writeFileSync(join(folder, 'manifests.yaml'), text);
  const place = { folder, home: folder, env: {} };
  const validated = await runGo('kubectl-validate', ['manifests.yaml'], place);
  expect(validated.code, validated.output).toBe(0);
  expect(
    manifests(text)
      .map(({ kind }) => kind)
      .sort()
      .join(' '),
  ).toBe(kinds);
});

test('what Kubernetes does not know is found', async () => {
  const folder = makeFolder();
  const text = await render('stones', least);
  writeFileSync(join(folder, 'manifests.yaml'), text.replace('replicas:', 'replica:'));
  const place = { folder, home: folder, env: {} };
  expect(await runGo('kubectl-validate', ['manifests.yaml'], place)).toMatchObject({
    code: 1,
    output: expect.stringContaining('spec.replica: Invalid value'),
  });
});

test('values are where they belong', async () => {
  const found = manifests(await render('stones', most));
  const of = (kind: string) => JSON.stringify(found.find((each) => each.kind === kind)?.spec);
  expect(of('Deployment')).toContain('"replicas":2,"strategy":{"type":"Recreate"}');
  expect(of('Deployment')).toContain('{"name":"ASHLAR_MAX_OFFSET","value":"0"}');
  expect(of('Deployment')).toContain('"runAsNonRoot":true,"runAsUser":10001');
  expect(of('Ingress')).toContain('"host":"code.example.org"');
  expect(of('PersistentVolumeClaim')).toContain('"accessModes":["ReadWriteMany"]');
});

test.each([
  ['without an address', { secret: 'ashlar' }, 'url: the public address'],
  ['without a secret', { url: 'https://code.example.org' }, 'secret: the name of a Secret'],
  ['several on a volume of one node', { ...least, replicas: '2' }, 'several replicas need'],
])('%s it is refused in words', async (_, values: Values, words) => {
  const { code, output } = await helm(['template', 'stones'], values);
  expect(code).not.toBe(0);
  expect(output).toContain(words);
});
