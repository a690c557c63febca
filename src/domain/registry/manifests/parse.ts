/** Manifests: what the bytes refer to (OCI Image 1.1; Docker image manifest version 2, schema 2). Pure. */
import { isStorable } from '../../../platform/characters.ts';
import { Failure } from '../../../platform/failure.ts';
import { JsonMeter, MAX_JSON_DEPTH } from '../../../platform/http/parameters/json-meter.ts';
import { parseDigest } from '../names/rules.ts';

/** Bytes of a manifest (OCI Distribution 1.1: registries take at least so many). */
export const MAX_MANIFEST_BYTES = 4 * 1_048_576;
const MAX_REFERENCES = 5_000;

export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';

const kinds: Readonly<Record<string, 'image' | 'index'>> = {
  'application/vnd.oci.image.manifest.v1+json': 'image',
  'application/vnd.docker.distribution.manifest.v2+json': 'image',
  [OCI_INDEX]: 'index',
  'application/vnd.docker.distribution.manifest.list.v2+json': 'index',
};

/** The types of manifests that are served. */
export const manifestTypes: readonly string[] = Object.keys(kinds);

export type Manifest = {
  mediaType: string;
  /** Digests of the config, and of layers that the registry must have. */
  blobs: string[];
  /** Digests of the manifests of an index. */
  children: string[];
  config: string | null;
  subject: string | null;
  artifactType: string | null;
  annotations: Readonly<Record<string, string>> | null;
};

/** Why bytes are no manifest, for their client. */
export class BadManifest extends Error {}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Descriptor = { digest: string; mediaType: string; fields: Fields };

function descriptorOf(value: unknown, what: string): Descriptor {
  if (!isFields(value)) throw new BadManifest(`${what} is no descriptor`);
  const { digest, mediaType, size } = value;
  if (typeof digest !== 'string' || !parseDigest(digest))
    throw new BadManifest(`${what} has no valid digest`);
  if (typeof mediaType !== 'string' || mediaType.length > 255 || !isStorable(mediaType))
    throw new BadManifest(`${what} has no valid mediaType`);
  if (!Number.isSafeInteger(size) || Number(size) < 0) throw new BadManifest(`${what} has no valid size`);
  return { digest, mediaType, fields: value };
}

function descriptorsOf(value: unknown, what: string): Descriptor[] {
  if (!Array.isArray(value)) throw new BadManifest(`${what} is no list`);
  if (value.length > MAX_REFERENCES) throw new BadManifest(`${what} has more than ${MAX_REFERENCES} entries`);
  return value.map((each, index) => descriptorOf(each, `${what}[${index}]`));
}

/** Layers that are distributed by others. */
const isForeign = ({ mediaType, fields: { urls } }: Descriptor): boolean =>
  (Array.isArray(urls) && urls.length > 0) || /\.(?:nondistributable|foreign)\./.test(mediaType);

function annotationsOf(value: unknown): Manifest['annotations'] {
  if (value === undefined || value === null) return null;
  if (!isFields(value)) throw new BadManifest('annotations is no object');
  for (const [name, text] of Object.entries(value))
    if (typeof text !== 'string' || !isStorable(name) || !isStorable(text))
      throw new BadManifest('annotations are not all texts');
  return value as Readonly<Record<string, string>>; // looked at one by one above
}

function artifactTypeOf(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > 255 || !isStorable(value))
    throw new BadManifest('artifactType is no media type');
  return value;
}

function readJson(bytes: Buffer): Fields {
  try {
    new JsonMeter().push(bytes);
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isFields(value)) return value;
  } catch (error) {
    if (error instanceof Failure)
      throw new BadManifest(`it has too many values, or more than ${MAX_JSON_DEPTH} levels`);
  }
  throw new BadManifest('it is no JSON object');
}

/** The type that a header names, without its parameters. */
const typeIn = (header: string | undefined): string | undefined =>
  header?.split(';')[0]?.trim().toLowerCase() || undefined;

/** Throws BadManifest with the reason. The type in the bytes is that of the header, where both are there. */
export function parseManifest(bytes: Buffer, contentType: string | undefined): Manifest {
  const fields = readJson(bytes);
  if (fields.schemaVersion !== 2) throw new BadManifest('schemaVersion is not 2');
  const inside = typeof fields.mediaType === 'string' ? fields.mediaType : undefined;
  const header = typeIn(contentType);
  const mediaType = header !== undefined && Object.hasOwn(kinds, header) ? header : (inside ?? header ?? '');
  if (!Object.hasOwn(kinds, mediaType))
    throw new BadManifest(`its type ${JSON.stringify(mediaType)} is not served`);
  if (inside !== undefined && inside !== mediaType)
    throw new BadManifest(`its mediaType is ${JSON.stringify(inside)}, and its Content-Type another`);
  const subject = fields.subject === undefined || fields.subject === null ? undefined : fields.subject;
  const about = subject === undefined ? null : descriptorOf(subject, 'subject').digest;
  const common = { mediaType, subject: about, annotations: annotationsOf(fields.annotations) };
  const artifactType = artifactTypeOf(fields.artifactType);
  if (kinds[mediaType] === 'index') {
    if (fields.layers !== undefined || fields.config !== undefined)
      throw new BadManifest('an index has neither config nor layers');
    const children = descriptorsOf(fields.manifests, 'manifests').map(({ digest }) => digest);
    return { ...common, artifactType, blobs: [], children: [...new Set(children)], config: null };
  }
  if (fields.manifests !== undefined) throw new BadManifest('the manifest of an image has no manifests');
  const config = descriptorOf(fields.config, 'config');
  const layers = descriptorsOf(fields.layers ?? [], 'layers').filter((layer) => !isForeign(layer));
  const blobs = [...new Set([config, ...layers].map(({ digest }) => digest))];
  return {
    ...common,
    artifactType: artifactType ?? config.mediaType,
    blobs,
    children: [],
    config: config.digest,
  };
}
