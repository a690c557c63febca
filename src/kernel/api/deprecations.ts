/** What is deprecated, read off the endpoints and the schemas, and the headers that say so (spec: Versioning). */
import type { Capability } from '../capability.ts';

export type Deprecations = {
  endpoints: { method: string; path: string; use: string }[];
  /** By name; `requests` and `records` are the capabilities whose endpoints have the attribute. */
  attributes: { name: string; use: string; requests: string[]; records: string[] }[];
};

type Node = { deprecated?: boolean; description?: string; [keyword: string]: unknown };

/** All that the capabilities declare as deprecated, in the order of the capabilities; attributes by name. */
export function deprecationsOf(capabilities: readonly Capability[]): Deprecations {
  const endpoints: Deprecations['endpoints'] = [];
  const attributes = new Map<string, { name: string; use: string } & Places>();
  for (const { name: capability, endpoints: all } of capabilities) {
    for (const { method, path, deprecated, input, reply } of all) {
      if (deprecated) endpoints.push({ method, path, use: deprecated.use });
      const note = (place: keyof Places) => (name: string, use: string) => {
        const known = attributes.get(`${name} ${use}`) ?? {
          name,
          use,
          requests: new Set(),
          records: new Set(),
        };
        known[place].add(capability);
        attributes.set(`${name} ${use}`, known);
      };
      walk(input, '', note('requests'));
      walk(reply, '', note('records'));
    }
  }
  return {
    endpoints,
    attributes: [...attributes.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, use, requests, records }) => ({
        name,
        use,
        requests: [...requests],
        records: [...records],
      })),
  };
}

type Places = Record<'requests' | 'records', Set<string>>;

/** The parts of a schema that have a name and are marked; deprecated() writes the sentence. */
function walk(node: unknown, name: string, note: (name: string, use: string) => void): void {
  if (typeof node !== 'object' || node === null) return;
  const { deprecated, description = '', properties, items, additionalProperties, anyOf } = node as Node;
  if (deprecated && name !== '') note(name, description.replace(/^Deprecated: use |\.$/g, ''));
  for (const [key, part] of Object.entries(properties ?? {})) walk(part, key, note);
  for (const part of [items, additionalProperties, ...(Array.isArray(anyOf) ? anyOf : [])])
    walk(part, name, note);
}

/** Where the page of the API lists what is deprecated. */
export const DEPRECATIONS_ID = 'deprecations';

/** 2026-11-21: all of it was deprecated before it was first served here. */
const SINCE = 1_795_219_200;

/** The headers of a reply of a deprecated endpoint (RFC 9745); a page keeps its own links. */
export const withDeprecation = (headers: Record<string, string>, origin: string): Record<string, string> => {
  const link = `<${origin}/api/docs#${DEPRECATIONS_ID}>; rel="deprecation"; type="text/html"`;
  return {
    ...headers,
    deprecation: `@${SINCE}`,
    link: headers.link === undefined ? link : `${headers.link}, ${link}`,
  };
};
