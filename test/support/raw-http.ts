/** Requests exactly as written: paths that fetch() would tidy up, and bodies that it would not send with GET. */
import { request } from 'node:http';

export type RawResponse = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

/** The response to `method target`, where the target goes onto the request line as it is. */
export function sendRaw(
  url: string,
  line: string,
  options: { headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const space = line.indexOf(' ');
  return new Promise((resolve, reject) => {
    const { headers = {}, body } = options;
    const sent = request(
      {
        hostname,
        port,
        method: line.slice(0, space),
        path: line.slice(space + 1),
        headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
