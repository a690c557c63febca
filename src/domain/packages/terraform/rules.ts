/** Names, versions and addresses of Terraform modules (facts-packages: 1.1, 1.13). Pure. */
import { makePass, readPass } from '../../../kernel/identity/passes.ts';
import { badRequest } from '../../../platform/failure.ts';
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

/** Opens one file for a while: programs fetch modules without their credentials. */
export const fileToken = (key: Buffer, fileId: number, time: Date): string =>
  makePass(key, { file: fileId }, { time, seconds: TOKEN_SECONDS });

/** The id of the file that the token opens; undefined for one that is not ours, or too old. */
export function openedFile(key: Buffer, token: string, time: Date): number | undefined {
  const claims = readPass(key, token, time);
  return claims && Number(claims.file);
}
