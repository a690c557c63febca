/** Takes an artifact of a job that runs: its file first, then the row. */

import { readFile } from 'node:fs/promises';
import { missingFile, withReceivedFile } from '../../../kernel/files/received-file.ts';
import type { PlanLimits } from '../../../kernel/instance/plan-limits.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { now } from '../../../platform/clock.ts';
import type { Db } from '../../../platform/db/database.ts';
import { badRequest, Failure } from '../../../platform/failure.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';
import { seal } from '../../../platform/secret.ts';
import { type ArtifactFormat, artifactTypes } from '../execution/artifact-types.ts';
import type { PlannedJob } from '../file/plan.ts';
import type { JobRow } from '../processing/process-actions.ts';
import { keepArtifact } from './actions.ts';
import { parseDotenv } from './dotenv.ts';
import { selectProjectLimit } from './queries.ts';
import { dotenvLimits, expiryOf, maximumBytes } from './rules.ts';

/** 400 for a body that cannot have a file, whoever sends it. */
export function refuseWithoutFile({ headers }: Pick<HttpRequest, 'headers'>): void {
  if (!/^multipart\/form-data\b/i.test(String(headers['content-type'] ?? ''))) throw missingFile();
}
export const tooLarge = (cause?: unknown): Failure =>
  new Failure('payload_too_large', 'file size has reached maximum size limit', { cause });

/** The type of an artifact and how it is packed; 400 for an unknown one, and for another packing than its own. */
export function typeOf(given: { artifact_type?: string | undefined; artifact_format?: string | undefined }): {
  type: string;
  format: ArtifactFormat;
} {
  const type = given.artifact_type ?? 'archive';
  const known = artifactTypes.get(type);
  if (!known) throw badRequest('artifact_type does not have a valid value');
  if (given.artifact_format !== undefined && given.artifact_format !== known.format)
    throw badRequest(`artifact_format of ${type} is ${known.format}`);
  return { type, format: known.format };
}

/** Bytes of an artifact, by the project of the job, its groups and the instance; and by its type. */
export const sizeLimit = async (
  db: Db,
  { settings, limits }: { settings: ApplicationSettings; limits: PlanLimits },
  job: Pick<JobRow, 'project_id'>,
  type?: string,
): Promise<number> =>
  maximumBytes(limits, type, (await selectProjectLimit(db, job.project_id)) ?? settings.max_artifacts_size);

export type Upload = Partial<
  Record<'artifact_type' | 'artifact_format' | 'expire_in' | 'accessibility', string | undefined>
>;

/** What the job's file, and the fields of the upload, make of an artifact. 400 for fields that mean nothing. */
function planOf(job: JobRow, settings: ApplicationSettings, upload: Upload) {
  const { expire_in = settings.default_artifacts_expire_in, accessibility = 'public' } = upload;
  const time = now();
  const expiresAt = expiryOf(expire_in, time);
  if (expiresAt === undefined) throw badRequest('expire_in is not a duration');
  if (accessibility !== 'public' && accessibility !== 'private')
    throw badRequest('accessibility does not have a valid value');
  // The column holds what the compiler planned.
  const planned = (job.options as unknown as Partial<PlannedJob>).artifacts;
  const access = planned?.access ?? (accessibility === 'private' ? 'developer' : 'all');
  return { ...typeOf(upload), access, expires_at: expiresAt, created_at: time };
}

/**
 * Keeps the `file` of the body, whose other fields say what the address does not. 400 without one, for a report that cannot be
 * read, and for another artifact of its type; the same one again is kept already. 403 where the job ended meanwhile, 413 for a
 * file beyond the limit.
 */
export async function takeArtifact(
  context: {
    services: Needs<'blobs' | 'database' | 'instance' | 'secretKey'>;
    settings: ApplicationSettings;
    request: HttpRequest;
  },
  job: JobRow,
  given: Upload,
): Promise<void> {
  const { services, settings, request } = context;
  const { db } = services.database;
  // What is wrong in the address is said before the file comes.
  planOf(job, settings, given);
  const { limits } = await services.instance.read();
  const fields: Record<string, string> = {};
  const options = {
    maximum: await sizeLimit(db, { settings, limits }, job, given.artifact_type),
    field: (name: string, value: string) => {
      fields[name] = value;
    },
  };
  await withReceivedFile({ services, request }, options, async ({ draft, filename, size, sha256 }) => {
    const { type, format, ...plan } = planOf(job, settings, { ...fields, ...given });
    if (size > maximumBytes(limits, type)) throw tooLarge();
    const variables =
      type === 'dotenv' ? parseDotenv(await readFile(draft.path), dotenvLimits(limits)) : undefined;
    const artifact = {
      ...plan,
      file_type: type,
      file_format: format,
      filename,
      size,
      sha256,
      ...(variables && { dotenvSealed: seal(services.secretKey, JSON.stringify(variables)) }),
    };
    await keepArtifact(db, job, artifact, draft);
  }).catch((error: unknown) => {
    throw error instanceof Failure && error.kind === 'payload_too_large' ? tooLarge(error) : error;
  });
}
