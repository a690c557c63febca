/** Names, versions and addresses of Terraform modules (facts-packages: 1.1, 1.13). Pure. */
import { badRequest } from '../../../platform/failure.ts';
import { authenticate, sameSecret } from '../../../platform/secret.ts';
import { isVersion } from '../names/semver.ts';

const PART = /^[a-z0-9-]{1,64}$/;

/** The name of the package of a module; 400 for parts that are none. */
export function moduleName(name: string, system: string): string {
  if (!PART.test(name)) throw badRequest('module_name is invalid');
  if (!PART.test(system)) throw badRequest('module_system is invalid');
  return `${name}/${system}`;
}

export function requireVersion(version: string): void {
  if (!isVersion(version)) throw badRequest('module_version is invalid');
}

export const moduleFile = (name: string, version: string): string =>
  `${name.replace('/', '-')}-${version}.tgz`;

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
