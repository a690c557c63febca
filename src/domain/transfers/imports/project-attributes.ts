/** What project.json says of a project, and what of it is taken. Pure. */

import Value from 'typebox/value';
import { ProjectSettingsSchema } from '../../../kernel/namespaces/project-settings.ts';
import { isStorable } from '../../../platform/characters.ts';
import { isRefName } from '../../../platform/git/names.ts';

export type ProjectAttributes = {
  description: string | null;
  visibility: number;
  archived: boolean;
  topics: string[];
  branch: string | undefined;
  settings: Record<string, unknown>;
};

/** Settings that only administrators change, and those whose values the API examines further. */
const others: ReadonlySet<string> = new Set([
  'max_artifacts_size',
  'repository_size_limit',
  'merge_request_title_regex',
  'ci_config_path',
]);

const levels = [0, 10, 20];
const MAX_TOPICS = 100;

/** PostgreSQL stores no JSON with NUL or half a character in a text. */
const isStorableAsJson = (value: unknown): boolean =>
  !/\\u(?:0000|[dD][89a-fA-F])/.test(JSON.stringify(value));

const isText = (value: unknown, maximum: number): value is string =>
  typeof value === 'string' && value.length <= maximum && isStorable(value);

/** Attributes that a request gave in place of those of the archive come as the texts of a form. */
const fromText = (value: unknown): unknown => (value === 'true' ? true : value === 'false' ? false : value);

export function projectAttributes(
  given: Readonly<Record<string, unknown>>,
  {
    override = {},
    mostVisible,
  }: { override?: Readonly<Record<string, unknown>> | undefined; mostVisible: number },
): ProjectAttributes {
  const values: Record<string, unknown> = { ...given };
  for (const [name, value] of Object.entries(override)) values[name] = fromText(value);
  const settings: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(ProjectSettingsSchema.properties)) {
    const value = values[name];
    if (value !== undefined && !others.has(name) && Value.Check(schema, value) && isStorableAsJson(value))
      settings[name] = value;
  }
  const { description, visibility_level, archived, topics, default_branch } = values;
  const names = { private: 0, internal: 10, public: 20 } as const;
  const visibility = names[values.visibility as keyof typeof names] ?? Number(visibility_level);
  return {
    description: isText(description, 2_000) ? description : null,
    visibility: Math.min(levels.includes(visibility) ? visibility : 0, mostVisible),
    archived: archived === true,
    topics: (Array.isArray(topics) ? topics : [])
      .filter((topic): topic is string => isText(topic, 255) && topic !== '' && !/[\n,]/.test(topic))
      .slice(0, MAX_TOPICS),
    branch: typeof default_branch === 'string' && isRefName(default_branch) ? default_branch : undefined,
    settings,
  };
}
