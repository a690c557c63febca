/** Exports and imports as tests ask for them. */
import { gzipSync } from 'node:zlib';
import { type Called, ROOT_TOKEN as ROOT, type Site } from './app.ts';
import { bodyOf } from './factories.ts';
import { type TarEntry, tarFile } from './tar.ts';
import { until } from './waiting.ts';

/** The archive of a project or group, when it is made. */
export async function exported(
  site: Site,
  path: `/projects/${number}` | `/groups/${number}`,
  token?: string,
): Promise<Buffer> {
  const as = token === undefined ? site.root : site.as(token);
  bodyOf(await as(`POST ${path}/export`), 202);
  let found: Called | undefined;
  await until(async () => {
    found = await as(`HEAD ${path}/export/download`);
    return found.status === 200;
  }, `no export of ${path}`);
  return downloaded(site, `${path}/export/download`, token);
}

/** The bytes at a path of the API. */
export async function downloaded(site: Site, path: string, token?: string): Promise<Buffer> {
  const response = await fetch(`${site.url}/api/v4${path}`, {
    headers: { 'private-token': token ?? ROOT },
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Sends a form with an archive. */
export async function sendArchive(
  site: Site,
  path: string,
  archive: Buffer,
  fields: Readonly<Record<string, string>>,
  token: string = ROOT,
): Promise<{ status: number; body: Called['body']; text: string }> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(archive)]), 'export.tar.gz');
  const response = await fetch(`${site.url}/api/v4${path}`, {
    method: 'POST',
    headers: { 'private-token': token },
    body: form,
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text), text };
}

/** What the import of a project says when it is over. */
export async function importOver(site: Site, id: number, token?: string): Promise<Called['body']> {
  const as = token === undefined ? site.root : site.as(token);
  let status: Called['body'];
  await until(async () => {
    status = bodyOf(await as(`GET /projects/${id}/import`), 200);
    return ['finished', 'failed'].includes(status.import_status);
  }, `the import of ${id} is not over`);
  return status;
}

/** An archive of a project with these entries beside what each one has. */
export const archiveOf = (...entries: TarEntry[]): Buffer =>
  gzipSync(
    tarFile({ name: 'VERSION', content: '0.2.4' }, { name: 'tree/project.json', content: '{}' }, ...entries),
  );

/** The lines of a relation. */
export const lines = (relation: string, ...records: unknown[]): TarEntry => ({
  name: `tree/project/${relation}.ndjson`,
  content: records
    .map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`)
    .join(''),
});
