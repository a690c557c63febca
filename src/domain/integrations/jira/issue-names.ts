/** How a project names issues of Jira: by their keys, or with a prefix and a pattern of its own (facts-packages: Integrations). Pure. */
import { type Properties, type TrackerNames, textOf } from '../kinds/description.ts';

const KEY = '[A-Z][A-Z0-9_]+-[0-9]+';

const literal = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');

export const jiraNames: TrackerNames = {
  fields: ['jira_issue_prefix', 'jira_issue_regex'],
  pattern(properties: Properties) {
    const prefix = textOf(properties, 'jira_issue_prefix');
    const key = textOf(properties, 'jira_issue_regex');
    return prefix === '' && key === '' ? undefined : `\\b${literal(prefix)}(${key || KEY})`;
  },
};
