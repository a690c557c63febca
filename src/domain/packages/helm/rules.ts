/** Charts of Helm: their names, and their descriptions as an index has them (facts-packages: 1.1, 1.8). Pure. */
import { badRequest } from '../../../platform/failure.ts';
import { parsePlainYaml, YamlError } from '../records/plain-yaml.ts';

const NAME = /^[A-Za-z0-9](?:[._-]?[A-Za-z0-9]){0,254}$/;
const VERSION =
  /^v?(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
/** Programs read no longer key of a line. */
const MAX_KEY = 255;

export const isChannel = (text: string): boolean => text.length <= 255 && NAME.test(text);

/** What a value may be, beside null: lists have one shape for all items, `*` is for all names that have none of their own. */
type Shape = 'text' | 'flag' | readonly [Shape] | { readonly [name: string]: Shape };

/** What programs read of a description: one field of another type, and they would not read the index. */
const chart: Shape = {
  apiVersion: 'text',
  name: 'text',
  version: 'text',
  kubeVersion: 'text',
  description: 'text',
  type: 'text',
  keywords: ['text'],
  home: 'text',
  sources: ['text'],
  dependencies: [
    {
      name: 'text',
      version: 'text',
      repository: 'text',
      condition: 'text',
      tags: ['text'],
      enabled: 'flag',
      alias: 'text',
    },
  ],
  maintainers: [{ name: 'text', email: 'text', url: 'text' }],
  icon: 'text',
  appVersion: 'text',
  deprecated: 'flag',
  annotations: { '*': 'text' },
  condition: 'text',
  tags: 'text',
};

/** Controls, halves of pairs and what is no character: indexes with them are not read. */
const UNREADABLE = /[^\P{Cc}\t\n\r]|[\ufeff\ufffe\uffff]|\p{Surrogate}/u;

type Json = string | boolean | Json[] | { [name: string]: Json };

function shaped(value: unknown, shape: Shape, at: string): Json | undefined {
  const wrong = () => badRequest(`Chart.yaml: ${at} is invalid`);
  if (value === null || value === undefined) return undefined;
  if (shape === 'flag') {
    if (typeof value !== 'boolean') throw wrong();
    return value;
  }
  if (shape === 'text') {
    if (typeof value !== 'string' || UNREADABLE.test(value)) throw wrong();
    return value;
  }
  if (isList(shape)) {
    if (!Array.isArray(value)) throw wrong();
    return value.flatMap((each) => shaped(each, shape[0], at) ?? []);
  }
  if (typeof value !== 'object' || Array.isArray(value)) throw wrong();
  const record: Record<string, Json> = Object.create(null);
  for (const [name, each] of Object.entries(value)) {
    const inside = Object.hasOwn(shape, name) ? shape[name] : shape['*'];
    if (inside === undefined) continue;
    if (name.length > MAX_KEY || UNREADABLE.test(name)) throw wrong();
    const kept = shaped(each, inside, name);
    if (kept !== undefined) record[name] = kept;
  }
  return record;
}

const isList = (shape: Shape): shape is readonly [Shape] => Array.isArray(shape);

const LEXEMES = 10_000;

export type Chart = {
  name: string;
  version: string;
  /** Its description, without what programs do not read. */
  description: Readonly<Record<string, unknown>>;
};

/** The chart of a Chart.yaml; 400 for one that is none. */
export function chartOf(text: string): Chart {
  let value: unknown;
  try {
    value = parsePlainYaml(text, { lexemes: LEXEMES });
  } catch (error) {
    throw error instanceof YamlError ? badRequest(`Chart.yaml is ${error.message}`) : error;
  }
  const description = shaped(value, chart, 'it');
  if (typeof description !== 'object' || Array.isArray(description))
    throw badRequest('Chart.yaml: it is invalid');
  const { name, version } = description;
  if (typeof name !== 'string' || !NAME.test(name)) throw badRequest('Chart.yaml: name is invalid');
  if (typeof version !== 'string' || version.length > 255 || !VERSION.test(version))
    throw badRequest('Chart.yaml: version is invalid');
  return { name, version, description: { ...description } };
}

export type IndexedChart = {
  name: string;
  file_name: string;
  sha256: Buffer;
  created_at: Date;
  description: Readonly<Record<string, unknown>>;
};

/** A record on one line: JSON, which is YAML where no line ends in it. */
const inline = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );

/** The charts come the newest first: the document is of that time, and the same until another one comes. */
export function indexDocument(charts: readonly IndexedChart[], contextPath: string): string {
  const time = charts[0]?.created_at ?? new Date(0);
  const entries = [...Map.groupBy(charts, ({ name }) => name)].map(([name, each]) => {
    const versions = each.map(({ description, file_name, sha256, created_at }) =>
      inline({
        ...description,
        created: created_at.toISOString(),
        digest: sha256.toString('hex'),
        urls: [`charts/${encodeURIComponent(file_name)}`],
      }),
    );
    return `  ${inline(name)}:\n${versions.map((version) => `  - ${version}\n`).join('')}`;
  });
  return `apiVersion: v1
entries:${entries.length === 0 ? ' {}\n' : `\n${entries.join('')}`}generated: ${inline(time.toISOString())}
serverInfo: ${inline({ contextPath })}
`;
}
