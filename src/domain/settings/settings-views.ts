/** The application settings as administrators see them, as HTML. */
import type { FormProblems } from '../../kernel/api/form-problems.ts';
import { checkbox, hidden, input, problemList, select, textArea } from '../../kernel/api/forms.ts';
import {
  type ApplicationSettings,
  defaultSettings,
  settingSections,
} from '../../kernel/settings/definitions.ts';
import { type Html, html } from '../../platform/http/pages/html.ts';
import {
  fieldsOf,
  isSection,
  isSet,
  labelOf,
  optionName,
  removalName,
  type SectionName,
  type SettingField,
  textOf,
} from './settings-form.ts';

export const SETTINGS_PATH = '/admin/settings';

const isChanged = (field: SettingField, settings: ApplicationSettings): boolean =>
  field.kind === 'secret'
    ? isSet(field.name, settings)
    : textOf(field, settings) !== textOf(field, defaultSettings);

export const sectionList = (settings: ApplicationSettings): Html =>
  html`<ul class="things">${Object.keys(settingSections)
    .filter(isSection)
    .map((section) => {
      const { title, about } = settingSections[section];
      const changed = fieldsOf(section).filter((field) => isChanged(field, settings)).length;
      return html`<li><div><div class="what"><a href="${SETTINGS_PATH}/${section}">${title}</a></div><div class="below">${about}</div></div>
<div class="beside">${changed > 0 && `${changed} changed`}</div></li>
`;
    })}</ul>`;

/** The default where the value is another one: so much that it is read at a glance. */
function defaultOf(field: SettingField, settings: ApplicationSettings): string | undefined {
  if (field.kind === 'secret' || field.kind === 'json' || !isChanged(field, settings)) return undefined;
  const text = textOf(field, defaultSettings);
  if (field.kind === 'tick') return text === '1' ? 'ticked' : 'not ticked';
  return text === '' ? 'empty' : text.replaceAll('\n', ', ');
}

const MAX_ROWS = 16;

function control(
  field: SettingField,
  view: { text: string; problem: string | undefined; settings: ApplicationSettings },
): Html {
  const { name, kind, description } = field;
  const { text, problem, settings } = view;
  const normal = defaultOf(field, settings);
  const hint = html`${description}${kind === 'json' && ' As JSON.'}${kind === 'lines' && ' One to a line.'}${normal !== undefined && html` Default: ${normal}.`} <code>${name}</code>`;
  const label = labelOf(name);
  const common = { name, label, hint, problem };
  const rows = Math.min(Math.max(text.split('\n').length, 2), MAX_ROWS);
  switch (kind) {
    case 'tick':
      return checkbox({ ...common, checked: text === '1' });
    case 'one':
      return select({
        ...common,
        value: text,
        options: field.options.map((value) => ({ value, label: labelOf(value) })),
      });
    case 'several':
      return html`<fieldset id="${name}" aria-describedby="${name}_hint">
<legend>${label}</legend>
${field.options.map((option) =>
  checkbox({
    name: optionName(name, option),
    label: labelOf(option),
    checked: text.split('\n').includes(option),
  }),
)}
<div class="about">${problem !== undefined && html`<p class="problem">${problem}</p>`}<p class="hint" id="${name}_hint">${hint}</p></div>
</fieldset>`;
    case 'text':
    case 'lines':
    case 'json':
      return textArea({ ...common, value: text, rows, optional: true });
    case 'secret':
      return html`${input({
        ...common,
        type: 'password',
        autocomplete: 'new-password',
        optional: true,
        hint: html`${isSet(name, settings) ? 'It is set; leave this empty to keep it.' : 'It is not set.'} ${hint}`,
      })}${isSet(name, settings) && checkbox({ name: removalName(name), label: `Remove: ${label}`, checked: false })}`;
    default:
      return input({
        ...common,
        value: text,
        autocomplete: 'off',
        optional: true,
        digits: kind === 'number',
      });
  }
}

export const sectionForm = (form: {
  section: SectionName;
  settings: ApplicationSettings;
  /** What each field has: its value, or what was typed. */
  texts: ReadonlyMap<string, string>;
  marks: string;
  problems: FormProblems;
  token: Html;
  note: Html | undefined;
}): Html => {
  const { section, settings, texts, marks, problems, token, note } = form;
  const wrong = [...problems.fields.keys()].map(
    (name) => html`Nothing is saved yet: see <a href="#${name}">${labelOf(name)}</a>.`,
  );
  return html`${note}${problemList([...problems.general, ...wrong])}
<p>${settingSections[section].about}</p>
<form class="settings" method="post" action="${SETTINGS_PATH}/${section}">
${token}${hidden('shown', marks)}
${fieldsOf(section).map((field) =>
  control(field, {
    text: texts.get(field.name) ?? '',
    problem: problems.fields.get(field.name),
    settings,
  }),
)}
<div class="save"><button>Save</button></div>
</form>
<p class="aside"><a href="${SETTINGS_PATH}">All settings</a></p>`;
};
