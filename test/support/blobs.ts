/** The files of the store of blobs. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { blobPath } from '../../src/platform/blobs/blob-files.ts';
import { digest } from '../../src/platform/secret.ts';
import type { TestApp } from './app.ts';

type Of = Pick<TestApp, 'app'>;

const rootOf = ({ app }: Of): string => join(app.services.config.files, 'blobs');
const fileOf = (site: Of, bytes: string | Buffer): string =>
  blobPath(rootOf(site), digest(bytes).toString('hex'));

/** Names of all files, drafts among them. */
export function blobFiles(site: Of): string[] {
  if (!existsSync(rootOf(site))) return [];
  const entries = readdirSync(rootOf(site), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

export const isStored = (site: Of, bytes: string | Buffer): boolean => existsSync(fileOf(site, bytes));

/** As of a site that was restored without its blobs: rows go on naming it. */
export const removeBlobFile = (site: Of, bytes: string | Buffer): void => rmSync(fileOf(site, bytes));

/** Places bytes that a row of samples names; under the digest of another text, where the bytes are made later than their row. */
export function placeBlob(site: Of, bytes: string | Buffer, named: string | Buffer = bytes): void {
  const file = fileOf(site, named);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}
