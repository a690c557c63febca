/** OpenTofu: a state that is kept and locked by HTTP, and modules from the registry. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { tarFile } from '../support/tar.ts';
import { useGitbeaker } from './gitbeaker-client.ts';
import { runGo } from './programs.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();
let project = 0;
let mason = { id: 0, username: '', token: '' };
let reader = mason;

/** Where the modules are, by the configuration of the program: addresses in modules know no port and no plain HTTP. */
const HOST = 'registry.example';

beforeAll(async () => {
  const { id: group } = await gitbeaker.makeGroup('quarry');
  ({ id: project } = await gitbeaker.root.Projects.create({ name: 'walls', namespaceId: group }));
  [mason, reader] = [await gitbeaker.makeUser('mason'), await gitbeaker.makeUser('reader')];
  await gitbeaker.root.GroupMembers.add(group, 40, { userId: mason.id });
  await gitbeaker.root.GroupMembers.add(group, 30, { userId: reader.id });
});

const api = () => `${gitbeaker.url}/api/v4`;
const stateOf = (name: string) => `${api()}/projects/${project}/terraform/state/${name}`;

/** A folder with this configuration, and how the program runs in it. */
function makeWork(text: string, user = mason) {
  const folder = makeFolder();
  writeFileSync(join(folder, 'main.tf'), text);
  const rc = join(folder, 'tofurc');
  const modules = `${api()}/packages/terraform/modules/v1/`;
  writeFileSync(
    rc,
    `host "${HOST}" {\n  services = { "modules.v1" = "${modules}" }\n}\ncredentials "${HOST}" {\n  token = "${user.token}"\n}\n`,
  );
  const env = {
    TF_CLI_CONFIG_FILE: rc,
    TF_IN_AUTOMATION: '1',
    TF_HTTP_USERNAME: user.username,
    TF_HTTP_PASSWORD: user.token,
  };
  const run = (...args: string[]) => runGo('tofu', [...args, '-no-color'], { folder, home: folder, env });
  const must = async (...args: string[]): Promise<string> => {
    const { code, output } = await run(...args);
    expect(code, output).toBe(0);
    return output;
  };
  const write = (more: string) => writeFileSync(join(folder, 'main.tf'), more);
  return { folder, run, must, write };
}

const backend = (name: string) => `terraform {
  backend "http" {
    address        = "${stateOf(name)}"
    lock_address   = "${stateOf(name)}/lock"
    unlock_address = "${stateOf(name)}/lock"
    lock_method    = "POST"
    unlock_method  = "DELETE"
    retry_max      = 0
  }
}
`;
const stone = (kind: string) =>
  `resource "terraform_data" "stone" {\n  input = "${kind}"\n}\noutput "stone" {\n  value = terraform_data.stone.output\n}\n`;

test('a state is kept in versions, read elsewhere, and locked while somebody changes it', async () => {
  const first = makeWork(backend('production') + stone('granite'));
  await first.must('init');
  await first.must('apply', '-auto-approve');
  first.write(backend('production') + stone('slate'));
  await first.must('apply', '-auto-approve');
  expect(await first.must('output', '-raw', 'stone')).toBe('slate');
  expect(existsSync(join(first.folder, 'terraform.tfstate'))).toBe(false);

  const second = makeWork(backend('production') + stone('slate'));
  await second.must('init');
  expect(await second.must('state', 'list')).toContain('terraform_data.stone');
  expect(await second.must('plan')).toContain('No changes');

  // Who only reads gets the state, and may not lock it.
  const third = makeWork(backend('production') + stone('marble'), reader);
  await third.must('init');
  expect(await third.must('output', '-raw', 'stone')).toBe('slate');
  const refused = await third.run('apply', '-auto-approve');
  expect([refused.code, refused.output]).toEqual([
    1,
    expect.stringContaining('Error acquiring the state lock'),
  ]);

  const mark = join(first.folder, 'goes-on');
  first.write(
    `${backend('production')}resource "terraform_data" "stone" {\n  input = "chalk"\n}\nresource "terraform_data" "slow" {\n  provisioner "local-exec" {\n    command = "touch begun; while ! test -e '${mark}'; do sleep 0.1; done"\n  }\n}\n`,
  );
  const applying = first.run('apply', '-auto-approve');
  await expect.poll(() => existsSync(join(first.folder, 'begun')), { timeout: 60_000 }).toBe(true);
  const locked = await second.run('apply', '-auto-approve');
  expect([locked.code, locked.output]).toEqual([
    1,
    expect.stringContaining('Error acquiring the state lock'),
  ]);
  expect(locked.output).toMatch(/Operation: +OperationTypeApply/);
  writeFileSync(mark, '');
  const applied = await applying;
  expect(applied.code, applied.output).toBe(0);
  expect(await second.must('state', 'list')).toContain('terraform_data.slow');

  // A lock that somebody left.
  const lock = { ID: 'left', Operation: 'OperationTypeApply', Info: '', Who: 'a@b', Version: '1', Path: '' };
  const authorization = `Basic ${Buffer.from(`mason:${mason.token}`).toString('base64')}`;
  const left = await fetch(`${stateOf('production')}/lock`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ ...lock, Created: new Date().toISOString() }),
  });
  expect(left.status).toBe(200);
  expect((await second.run('apply', '-auto-approve')).code).toBe(1);
  await second.must('force-unlock', '-force', 'left');
  await second.must('apply', '-auto-approve');
  const states = await fetch(stateOf('production'), { headers: { authorization } });
  expect(((await states.json()) as { serial: number }).serial).toBeGreaterThan(2);
});

test('modules come from the registry, each in the newest version that fits', async () => {
  const publish = async (version: string, token = mason.token): Promise<number> => {
    const text = `output "version" {\n  value = "${version}"\n}\n`;
    const response = await fetch(
      `${api()}/projects/${project}/packages/terraform/modules/wall/local/${version}/file`,
      {
        method: 'PUT',
        headers: { 'private-token': token },
        body: new Uint8Array(gzipSync(tarFile({ name: 'main.tf', content: text }))),
      },
    );
    return response.status;
  };
  expect(await publish('1.0.0', 'glpat-none')).toBe(401);
  for (const version of ['1.0.0', '1.2.0', '2.0.0']) expect(await publish(version)).toBe(201);
  const uses = `module "wall" {\n  source  = "${HOST}/quarry/wall/local"\n  version = "~> 1.0"\n}\noutput "version" {\n  value = module.wall.version\n}\n`;
  const work = makeWork(uses, reader);
  await work.must('init');
  await work.must('apply', '-auto-approve');
  expect(await work.must('output', '-raw', 'version')).toBe('1.2.0');
  expect(await publish('1.3.0')).toBe(201);
  await work.must('init', '-upgrade');
  const kept = readFileSync(join(work.folder, '.terraform', 'modules', 'modules.json'), 'utf8');
  expect(kept).toContain('"Version":"1.3.0"');

  const stranger = makeWork(uses, { id: 0, username: 'nobody', token: 'glpat-none' });
  expect((await stranger.run('init')).code).toBe(1);
});
