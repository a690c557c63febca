/** A client of the container registry, as programs are: it gets a token for each image and action that it is asked for. */
import { createHash } from 'node:crypto';
import type { TestApp } from './app.ts';

export type Credentials = { username: string; password: string } | undefined;

export type RegistryReply = { status: number; headers: Headers; bytes: Buffer; text: string };

type Sent = {
  headers?: Record<string, string>;
  body?: Buffer | string;
  /** What the token is for; by default to do anything with the image. */
  scope?: string | string[];
};

const bodyOf = (body: Buffer | string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(body));

export const sha256Of = (content: Buffer | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

const basic = ({ username, password }: NonNullable<Credentials>): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

/** The answer of the token service. */
export async function askToken(
  app: Pick<TestApp, 'url'>,
  credentials: Credentials,
  scopes: readonly string[],
  service = 'container_registry',
) {
  const query = new URLSearchParams({ service });
  for (const scope of scopes) query.append('scope', scope);
  const response = await fetch(`${app.url}/jwt/auth?${query}`, {
    headers: credentials ? basic(credentials) : {},
  });
  const text = await response.text();
  const token: string = response.status === 200 ? JSON.parse(text).token : '';
  const claims =
    token === '' ? {} : JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const access: { type: string; name: string; actions: string[] }[] = claims.access ?? [];
  return { status: response.status, text, token, claims, access };
}

export function openRegistry(app: Pick<TestApp, 'url'>, credentials: Credentials) {
  const tokens = new Map<string, string>();

  async function tokenFor(scopes: readonly string[]): Promise<string> {
    const key = scopes.join(' ');
    const known = tokens.get(key);
    if (known !== undefined) return known;
    const { token } = await askToken(app, credentials, scopes);
    tokens.set(key, token);
    return token;
  }

  /** `METHOD path`, below `/v2/`, or a whole address that the registry gave. */
  async function send(line: string, { headers = {}, body, scope }: Sent = {}): Promise<RegistryReply> {
    const [method = 'GET', path = ''] = line.split(' ');
    const image =
      /^(?:http:\/\/[^/]+\/v2\/)?(.+?)\/(?:blobs|manifests|tags|referrers)\//.exec(path)?.[1] ?? '';
    const scopes = scope === undefined ? [`repository:${image}:pull,push,delete`] : [scope].flat();
    const token = await tokenFor(scopes);
    const response = await fetch(path.startsWith('http') ? path : `${app.url}/v2/${path}`, {
      method,
      headers: { ...(token !== '' && { authorization: `Bearer ${token}` }), ...headers },
      redirect: 'manual',
      ...(body !== undefined && { body: bodyOf(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, text: bytes.toString() };
  }

  async function pushBlob(image: string, content: Buffer | string): Promise<string> {
    const digest = sha256Of(content);
    const pushed = await send(`POST ${image}/blobs/uploads/?digest=${digest}`, {
      body: content,
      headers: { 'content-type': 'application/octet-stream' },
    });
    // A blob without a byte has no body: it comes by an upload.
    if (pushed.status === 202) await send(`PUT ${pushed.headers.get('location')}?digest=${digest}`);
    else if (pushed.status !== 201) throw new Error(`${pushed.status} ${pushed.text}`);
    return digest;
  }

  const putManifest = (image: string, reference: string, manifest: object | string, type = IMAGE_MANIFEST) =>
    send(`PUT ${image}/manifests/${reference}`, {
      body: typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
      headers: { 'content-type': type },
    });

  /** Pushes an image of one layer; its digest. */
  async function pushImage(image: string, tag: string, layer: string, more: object = {}): Promise<string> {
    await pushBlob(image, layer);
    await pushBlob(image, '{}');
    const manifest = JSON.stringify(imageOf([layer], more));
    const put = await putManifest(image, tag, manifest);
    if (put.status !== 201) throw new Error(`${put.status} ${put.text}`);
    return sha256Of(manifest);
  }

  return { send, pushBlob, putManifest, pushImage };
}

export const IMAGE_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const IMAGE_INDEX = 'application/vnd.oci.image.index.v1+json';

export const descriptorOf = (content: string, mediaType = 'application/vnd.oci.image.layer.v1.tar') => ({
  mediaType,
  digest: sha256Of(content),
  size: Buffer.byteLength(content),
});

/** The manifest of an image whose configuration is empty. */
export const imageOf = (layers: readonly string[], more: object = {}): object => ({
  schemaVersion: 2,
  mediaType: IMAGE_MANIFEST,
  config: descriptorOf('{}', 'application/vnd.oci.image.config.v1+json'),
  layers: layers.map((layer) => descriptorOf(layer)),
  ...more,
});
