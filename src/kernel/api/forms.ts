/** HTML parts of forms; html`` escapes their values. */
import { type Html, type HtmlValue, html } from '../../platform/http/pages/html.ts';

/** What stands below a control, and is read with it: what is wrong with its value, and a hint. */
export type Notes = { hint?: HtmlValue; problem?: string | undefined };

export type Input = Notes & {
  name: string;
  label: string;
  type?: 'text' | 'password' | 'email';
  value?: string;
  autocomplete: string;
  focus?: boolean;
  /** The submitted value was wrong; the list of problems has the reason. */
  wrong?: boolean;
  /** It may be left empty. */
  optional?: boolean;
  /** The keyboard of a phone has digits. */
  digits?: boolean;
};

const notesOf = (name: string, { hint, problem }: Notes): Html =>
  html`${
    problem !== undefined &&
    html`<p class="problem" id="${name}_problem">${problem}</p>
`
  }${hint !== undefined && html`<p class="hint" id="${name}_hint">${hint}</p>`}`;

/** The attributes of a control with these notes. */
function described(name: string, { hint, problem }: Notes): Html {
  const ids = [problem !== undefined && `${name}_problem`, hint !== undefined && `${name}_hint`].filter(
    Boolean,
  );
  return html`${problem !== undefined && html` aria-invalid="true"`}${ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`}`;
}

/** A labelled field with its notes. */
export const input = ({
  name,
  label,
  type = 'text',
  value = '',
  autocomplete,
  focus,
  wrong,
  optional,
  digits,
  ...notes
}: Input): Html => html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${!optional && html` required`}${
  type !== 'password' && html` autocapitalize="none" spellcheck="false"`
}${digits && html` inputmode="numeric"`}${focus && html` autofocus`}${wrong && notes.problem === undefined && html` aria-invalid="true"`}${described(name, notes)}>
${notesOf(name, notes)}
</div>`;

/** A labelled field of several lines. */
export const textArea = ({
  name,
  label,
  value,
  rows,
  optional,
  ...notes
}: Notes & {
  name: string;
  label: string;
  value: string;
  rows: number;
  optional?: boolean;
}): Html => html`<div class="field">
<label for="${name}">${label}</label>
<textarea id="${name}" name="${name}" rows="${rows}" autocapitalize="none" spellcheck="false"${!optional && html` required`}${described(name, notes)}>
${value}</textarea>
${notesOf(name, notes)}
</div>`;

/** A checkbox with its label. */
export const checkbox = ({
  name,
  label,
  checked,
  ...notes
}: Notes & { name: string; label: string; checked: boolean }): Html =>
  html`<div class="choice">
<input id="${name}" name="${name}" type="checkbox" value="1"${checked && html` checked`}${described(name, notes)}>
<label for="${name}">${label}</label>
${notesOf(name, notes)}
</div>`;

/** Radio buttons, each with a hint. */
export const choices = (group: {
  name: string;
  label: string;
  value: string;
  options: readonly { value: string; label: string; hint?: string }[];
}): Html => html`<fieldset>
<legend>${group.label}</legend>
${group.options.map(({ value, label, ...notes }) => {
  const id = `${group.name}_${value}`;
  return html`<div class="choice">
<input id="${id}" name="${group.name}" type="radio" value="${value}"${value === group.value && html` checked`}${described(id, notes)}>
<label for="${id}">${label}</label>
${notesOf(id, notes)}
</div>`;
})}
</fieldset>`;

/** A drop-down list. */
export const select = ({
  name,
  label,
  value,
  options,
  ...notes
}: Notes & {
  name: string;
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
}): Html => html`<div class="field">
<label for="${name}">${label}</label>
<select id="${name}" name="${name}"${described(name, notes)}>
${options.map((option) => html`<option value="${option.value}"${option.value === value && html` selected`}>${option.label}</option>`)}
</select>
${notesOf(name, notes)}
</div>`;

/** Links to the previous and next page of a list. */
export const pageLinks = (base: string, page: number, more: boolean): Html | false =>
  (page > 1 || more) &&
  html`<nav class="actions" aria-label="Pages">
${page > 1 && html`<a href="${base}?page=${page - 1}">Previous</a>`}
${more && html`<a href="${base}?page=${page + 1}">Next</a>`}
</nav>`;

/** A hidden field. */
export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

/** The problems, announced by screen readers when the page loads; undefined without any. */
export const problemList = (problems: readonly HtmlValue[]): Html | undefined => {
  if (problems.length === 0) return undefined;
  const [only, ...others] = problems;
  const text = others.length === 0 ? only : html`<ul>${problems.map((text) => html`<li>${text}</li>`)}</ul>`;
  return html`<div class="message" role="alert">${text}</div>`;
};

/** A narrow card with a heading. */
export const card = (title: string, ...content: (Html | undefined | false)[]): Html =>
  html`<div class="card">
<h1>${title}</h1>
${content}
</div>`;

/** A wide card for lists and long forms. */
export const panel = (title: string, ...content: (Html | undefined | false)[]): Html =>
  html`<div class="card wide">
<h1>${title}</h1>
${content}
</div>`;

/** A card with text and a link, for pages without a form. */
export const notice = (
  title: string,
  text: string | readonly string[],
  next: { path: string; label: string },
): Html =>
  card(
    title,
    html`${[text].flat().map((each) => html`<p>${each}</p>`)}<p class="aside"><a href="${next.path}">${next.label}</a></p>`,
  );
