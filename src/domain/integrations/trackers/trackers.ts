/** Where references to other trackers lead. Pure. */
import { jiraNames } from '../jira/issue-names.ts';
import { type Properties, type Tracker, textOf } from '../kinds/description.ts';

const at = (properties: Properties, id: string): string =>
  textOf(properties, 'issues_url').replaceAll(':id', encodeURIComponent(id));

const numbered = /^(?:#|[A-Z][A-Z0-9_]*-)(\d+)$/;
const keyed = /^[A-Z][A-Z0-9_]+-\d+$/;

/** Those whose address has the number alone. */
export const byNumber: Tracker = (name, properties) => {
  const [, number] = numbered.exec(name) ?? [];
  return number === undefined ? undefined : at(properties, number);
};

export const youtrack: Tracker = (name, properties) =>
  keyed.test(name) ? at(properties, name) : byNumber(name, properties);

export const phorge: Tracker = (name, properties) => (/^T\d+$/.test(name) ? at(properties, name) : undefined);

export const clickup: Tracker = (name, properties) => {
  const [, id] = /^(?:#|CU-)([0-9a-z]+)$/.exec(name) ?? [];
  if (id !== undefined) return at(properties, id);
  return keyed.test(name) ? at(properties, name) : undefined;
};

export const ewm: Tracker = (name, properties) => {
  const [, number] = /^(?:bug|task|work ?item|rtcwi|defect) (\d+)$/i.exec(name) ?? [];
  return number === undefined ? undefined : at(properties, number);
};

/** Names in the project's own way are those of issues whatever they look like; `#12` is none. */
export const jira: Tracker = (name, properties) => {
  const isKey = jiraNames.pattern(properties) === undefined ? keyed.test(name) : !name.startsWith('#');
  return isKey
    ? `${textOf(properties, 'url').replace(/\/+$/, '')}/browse/${encodeURIComponent(name)}`
    : undefined;
};
