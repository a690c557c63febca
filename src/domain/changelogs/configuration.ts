/** The configuration of changelogs: a YAML file in the repository, as values. */
import { isHash, readYaml, type YamlValue } from '../ci/index.ts';
import { parseTemplate, type Template, TemplateProblem } from './template.ts';

export const DEFAULT_FILE = '.gitlab/changelog_config.yml';
/** Bytes of the file. */
export const MAX_CONFIGURATION_BYTES = 131_072;
const MAX_GROUPS = 20;
/** Characters of a format of dates: each of its words takes as long as a short text. */
const MAX_DATE_FORMAT_LENGTH = 255;

export type Configuration = {
  dateFormat: string;
  template: Template;
  /** Titles by the values of the trailer. */
  categories: ReadonlyMap<string, string>;
  /** Names of tags, in RE2; those of semver.org without it. */
  tagPattern: string | undefined;
  /** Full paths of the groups whose members are credited. */
  creditedGroups: readonly string[];
};

export const DEFAULT_TEMPLATE = `{% if categories %}
{% each categories %}
### {{ title }} ({% if single_change %}1 change{% else %}{{ count }} changes{% end %})

{% each entries %}
- [{{ title }}]({{ commit.web_url }})\\
{% if author.credit %} by {{ author.reference }}{% end %}\\
{% if merge_request %} ([merge request]({{ merge_request.web_url }})){% end %}

{% end %}

{% end %}
{% else %}
No changes.
{% end %}
`;

/** What is wrong with a file, as a sentence. */
export class ConfigurationProblem extends Error {}

function textAt(values: ReadonlyMap<string, YamlValue>, name: string): string | undefined {
  const value = values.get(name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new ConfigurationProblem(`${name} must be a text`);
  return value;
}

function templateOf(text: string): Template {
  try {
    return parseTemplate(text);
  } catch (error) {
    if (error instanceof TemplateProblem) throw new ConfigurationProblem(error.message);
    throw error;
  }
}

function categoriesOf(value: YamlValue | undefined): Map<string, string> {
  if (value === undefined || value === null) return new Map();
  if (!isHash(value)) throw new ConfigurationProblem('categories must be names with titles');
  const found = new Map<string, string>();
  for (const [name, title] of value) {
    if (typeof title !== 'string') throw new ConfigurationProblem('categories must be names with titles');
    found.set(name, title);
  }
  return found;
}

function groupsOf(value: YamlValue | undefined): string[] {
  if (value === undefined || value === null) return [];
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
  if (!isList || value.length > MAX_GROUPS)
    throw new ConfigurationProblem(`include_groups must be at most ${MAX_GROUPS} full paths of groups`);
  return value as string[];
}

function dateFormatOf(format = '%Y-%m-%d'): string {
  if (format.length > MAX_DATE_FORMAT_LENGTH)
    throw new ConfigurationProblem(`date_format has more than ${MAX_DATE_FORMAT_LENGTH} characters`);
  return format;
}

/** The configuration that the text has; the usual one without a text. Throws a ConfigurationProblem for what is none. */
export async function readConfiguration(text: string | undefined): Promise<Configuration> {
  const read = await readYaml(text ?? '');
  if ('problem' in read) throw new ConfigurationProblem(read.problem);
  const [content = null] = read.documents;
  if (content !== null && !isHash(content))
    throw new ConfigurationProblem('The file must have names with values');
  const values: ReadonlyMap<string, YamlValue> = content ?? new Map();
  return {
    dateFormat: dateFormatOf(textAt(values, 'date_format')),
    template: templateOf(textAt(values, 'template') ?? DEFAULT_TEMPLATE),
    categories: categoriesOf(values.get('categories')),
    tagPattern: textAt(values, 'tag_regex'),
    creditedGroups: groupsOf(values.get('include_groups')),
  };
}
