/**
 * What ships: sbom.cdx.json, a bill of materials by npm, and THIRD-PARTY.txt, the licences with their texts. npm makes them when
 * it packs the package; `--check` only refuses licences that are not below.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { init, type ModuleInfos } from 'license-checker-rseidelsohn';
import { insideOf } from './embedded-libraries.ts';

const root = join(import.meta.dirname, '..');

/** Each lets its program be part of another, asking for no more than its notice: what THIRD-PARTY.txt is for. */
const permitted = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'],
  // Of Python: those of the two versions of argparse.
  ...['PSF-2.0', 'Python-2.0'],
]);

type Component = {
  name: string;
  version: string;
  scope?: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  components?: unknown[];
};
type Bill = { serialNumber?: string; metadata: { timestamp?: string }; components: Component[] };

const nameOf = ({ name, version }: Component): string => `${name}@${version}`;

/** As the package says it; one that says several, or in words of its own, is for a human to look at. */
const licenceOf = ({ licenses = [] }: Component): string =>
  licenses.map(({ license, expression }) => license?.id ?? license?.name ?? expression).join(' and ');

/**
 * npm's `--omit dev` leaves out what a tool needs as well as the program. So npm reads a package that has no tools and no
 * workspaces: what nothing needs any more is not in its bill.
 */
function makeBill(): Bill {
  const { devDependencies, workspaces, scripts, ...manifest } = readJson(join(root, 'package.json'));
  const lock = readJson(join(root, 'package-lock.json'));
  type Locked = { devOptional?: boolean; link?: boolean };
  const others = Object.entries<Locked>(lock.packages).filter(
    // What a library would use if somebody installed it: here our tools did.
    ([path, { devOptional, link }]) => path.startsWith('node_modules/') && !devOptional && !link,
  );
  const packages = { '': manifest, ...Object.fromEntries(others) };
  const place = mkdtempSync(join(tmpdir(), 'bill-'));
  try {
    // npm calls the whole as its folder is called.
    const folder = join(place, manifest.name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
    const bill: Bill = JSON.parse(npm(folder, 'sbom', '--sbom-format=cyclonedx', '--package-lock-only'));
    // Two packages of one state are the same to the byte.
    delete bill.serialNumber;
    delete bill.metadata.timestamp;
    for (const component of bill.components) {
      const inside = insideOf(component.name);
      if (inside.length > 0) component.components = inside;
    }
    return bill;
  } finally {
    rmSync(place, { recursive: true });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: two files that npm has written.
const readJson = (file: string): any => JSON.parse(readFileSync(file, 'utf8'));

/** The npm that runs us, on our Node; else the one of the path. */
function npm(folder: string, ...args: string[]): string {
  const script = process.env.npm_execpath;
  const [program, ...first] = script?.endsWith('.js') ? [process.execPath, script] : ['npm'];
  return execFileSync(program as string, [...first, ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
}

const installedLicences = (): Promise<ModuleInfos> =>
  new Promise((resolve, reject) => {
    const options = { start: root, production: true, customFormat: { licenseText: '' } };
    init(options, (error, found) => (error ? reject(error) : resolve(found)));
  });

/** Packages with the same text share it. */
function writeLicences(components: readonly Component[], installed: ModuleInfos): string {
  const byText = Map.groupBy(components, (component) => {
    const text = installed[nameOf(component)]?.licenseText?.trim().replaceAll('\r\n', '\n');
    if (text) return text;
    if (component.scope !== 'optional') throw new Error(`no text of a licence: ${nameOf(component)}`);
    return 'Not installed where this list was made: a package for another platform, which has the text with it.';
  });
  const parts = [...byText].map(([text, same]) => {
    const names = same.map((component) => `${nameOf(component)}: ${licenceOf(component)}`);
    const inside = same.flatMap(({ name }) =>
      insideOf(name).map(
        (each) =>
          `  in ${name}: ${each.name}${each.version ? ` ${each.version}` : ''}: ${each.licenses[0]?.license.name}`,
      ),
    );
    return [...names, ...inside, '', text, ''].join('\n');
  });
  const first = `What Ashlar is made of, beside its own program, and under which licences.\n`;
  return [first, ...parts].join(`\n${'-'.repeat(80)}\n\n`);
}

const bill = makeBill();
const refused = bill.components.filter((component) => !permitted.has(licenceOf(component)));
for (const component of refused)
  process.stderr.write(`licence ${licenceOf(component) || 'unknown'}: ${nameOf(component)}\n`);
if (refused.length > 0) process.exitCode = 1;
else {
  const licences = writeLicences(bill.components, await installedLicences());
  if (!process.argv.includes('--check')) {
    writeFileSync(join(root, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
    writeFileSync(join(root, 'THIRD-PARTY.txt'), licences);
  }
}
