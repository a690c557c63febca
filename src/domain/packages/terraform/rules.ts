/** Names, versions and addresses of Terraform modules (facts-packages: 1.1, 1.13). Pure. */
import { badRequest } from '../../../platform/failure.ts';
import { authenticate, sameSecret } from '../../../platform/secret.ts';

const PART = /^[a-z0-9-]{1,64}$/;
const VERSION =
  /^(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,15})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** The name of the package of a module; 400 for parts that are none. */
export function moduleName(name: string, system: string): string {
  if (!PART.test(name)) throw badRequest('module_name is invalid');
  if (!PART.test(system)) throw badRequest('module_system is invalid');
  return `${name}/${system}`;
}

export function requireVersion(version: string): void {
  if (version.length > 255 || !VERSION.test(version)) throw badRequest('module_version is invalid');
}

export const moduleFile = (name: string, version: string): string =>
  `${name.replace('/', '-')}-${version}.tgz`;

/** The parts of a version in the order of their weight. */
function partsOf(version: string): { numbers: number[]; before: string[] | undefined } {
  const [, major = '0', minor = '0', patch = '0', before] = VERSION.exec(version) ?? [];
  return { numbers: [major, minor, patch].map(Number), before: before?.split('.') };
}

function compareParts(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return one.length - other.length || (one < other ? -1 : Number(one > other));
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one < other ? -1 : Number(one > other);
}

/** Orders versions as SemVer does: what comes before a version is lower, and builds are alike. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)];
  for (const [at, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (!left.before || !right.before) return Number(!left.before) - Number(!right.before);
  for (const [at, part] of left.before.entries()) {
    const with_ = right.before[at];
    if (with_ === undefined) return 1;
    const difference = compareParts(part, with_);
    if (difference !== 0) return difference;
  }
  return left.before.length - right.before.length;
}

/** Seconds for which a program may begin to fetch a file whose address it was given. */
const TOKEN_SECONDS = 300;

const seal = (key: Buffer, fileId: number, expires: number): string =>
  authenticate(key, `${fileId}.${expires}`);

/** Opens one file for a while: programs fetch modules without their credentials. */
export function fileToken(key: Buffer, fileId: number, time: Date): string {
  const expires = Math.floor(time.getTime() / 1_000) + TOKEN_SECONDS;
  return `${fileId}.${expires}.${seal(key, fileId, expires)}`;
}

/** The id of the file that the token opens; undefined for one that is not ours, or too old. */
export function openedFile(key: Buffer, token: string, time: Date): number | undefined {
  const [, file = '', expires = '', code = ''] = /^(\d{1,15})\.(\d{1,12})\.([\w-]+)$/.exec(token) ?? [];
  if (!sameSecret(code, seal(key, Number(file), Number(expires)))) return undefined;
  return Number(expires) * 1_000 < time.getTime() ? undefined : Number(file);
}
