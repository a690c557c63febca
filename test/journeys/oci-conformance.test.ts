/** The conformance suite of the OCI Distribution specification: pull, push, content discovery and content management. */
import { afterAll, expect, test } from 'vitest';
import { runGo } from './programs.ts';
import { cleanUp, makeFolder, ROOT_TOKEN, startProgram } from './support.ts';

afterAll(() => cleanUp());

/** The lines `name......: value` that follow a heading. */
function figuresOf(output: string, heading: string): Record<string, string> {
  const [block = ''] = output.split(`${heading}\n`)[1]?.split('\n\n') ?? [];
  return Object.fromEntries(
    [...block.matchAll(/^ +(.+?)\.+: +(\S+)$/gm)].map(([, name, value]) => [name, value]),
  );
}

test('the registry conforms', async () => {
  const program = await startProgram();
  await program.root('POST /projects', { name: 'conformance', visibility: 'private' });
  const folder = makeFolder();
  const env = {
    OCI_REGISTRY: new URL(program.url).host,
    OCI_TLS: 'disabled',
    OCI_REPO1: 'root/conformance/first',
    OCI_REPO2: 'root/conformance/second',
    OCI_USERNAME: 'root',
    OCI_PASSWORD: ROOT_TOKEN,
    OCI_RESULTS_DIR: folder,
    OCI_VERSION: '1.1',
    // What the specification leaves open, and the registry has.
    OCI_API_BLOBS_DIGEST_HEADER: 'true',
    OCI_API_BLOBS_UPLOAD_CANCEL: 'true',
    OCI_API_MANIFESTS_DIGEST_HEADER: 'true',
    OCI_API_MANIFESTS_TAG_PARAM: 'true',
  };
  const { code, output } = await runGo('conformance', [], { folder, home: folder, env });
  expect(code, output.slice(-20_000)).toBe(0);
  const { Pass = 0, FAIL, Error: errors } = figuresOf(output, 'OCI Conformance Result: Pass');
  expect({ passed: Number(Pass) > 900, FAIL, errors }).toEqual({ passed: true, FAIL: '0', errors: '0' });
  const { 'Blob anonymous mount': anonymous, ...apis } = figuresOf(output, 'API conformance:');
  // A blob is mounted from the image that its client names, and from no other.
  expect(anonymous).toBe('Skip');
  const all = Object.keys(apis);
  for (const one of [
    'Blob push',
    'Manifest get by tag',
    'Tag listing',
    'Referrers',
    'Tag delete',
    'Blob delete',
  ])
    expect(all).toContain(one);
  expect(apis).toEqual(Object.fromEntries(all.map((name) => [name, 'Pass'])));
  await program.stop();
});
