/** HTML parts of forms; html`` escapes their values. */
import { type Html, html } from '../../platform/http/pages/html.ts';

export type Input = {
  name: string;
  label: string;
  type?: 'text' | 'password' | 'email';
  value?: string;
  autocomplete: string;
  hint?: string;
  focus?: boolean;
  /** The submitted value was wrong; the list of problems has the reason. */
  wrong?: boolean;
};

/** The hint of a field, which screen readers read with it. */
const hintOf = (name: string, hint: string | undefined): Html | undefined =>
  hint === undefined ? undefined : html`<p class="hint" id="${name}_hint">${hint}</p>`;

const describedBy = (name: string, hint: string | undefined): Html | undefined =>
  hint === undefined ? undefined : html` aria-describedby="${name}_hint"`;

/** A labelled field with its hint. */
export const input = ({
  name,
  label,
  type = 'text',
  value = '',
  autocomplete,
  hint,
  focus,
  wrong,
}: Input): Html => html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}" required${
  type !== 'password' && html` autocapitalize="none" spellcheck="false"`
}${focus && html` autofocus`}${wrong && html` aria-invalid="true"`}${describedBy(name, hint)}>
${hintOf(name, hint)}
</div>`;

/** A labelled field of several lines. */
export const textArea = (field: {
  name: string;
  label: string;
  value: string;
  rows: number;
  hint?: string;
}): Html => html`<div class="field">
<label for="${field.name}">${field.label}</label>
<textarea id="${field.name}" name="${field.name}" rows="${field.rows}" autocapitalize="none" spellcheck="false" required${describedBy(field.name, field.hint)}>
${field.value}</textarea>
${hintOf(field.name, field.hint)}
</div>`;

/** A checkbox with its label. */
export const checkbox = (box: { name: string; label: string; checked: boolean; hint?: string }): Html =>
  html`<div class="choice">
<input id="${box.name}" name="${box.name}" type="checkbox" value="1"${box.checked && html` checked`}${describedBy(box.name, box.hint)}>
<label for="${box.name}">${box.label}</label>
${hintOf(box.name, box.hint)}
</div>`;

/** Radio buttons, each with a hint. */
export const choices = (group: {
  name: string;
  label: string;
  value: string;
  options: readonly { value: string; label: string; hint?: string }[];
}): Html => html`<fieldset>
<legend>${group.label}</legend>
${group.options.map(({ value, label, hint }) => {
  const id = `${group.name}_${value}`;
  return html`<div class="choice">
<input id="${id}" name="${group.name}" type="radio" value="${value}"${value === group.value && html` checked`}${describedBy(id, hint)}>
<label for="${id}">${label}</label>
${hintOf(id, hint)}
</div>`;
})}
</fieldset>`;

/** A drop-down list. */
export const select = (list: {
  name: string;
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  hint?: string;
}): Html => html`<div class="field">
<label for="${list.name}">${list.label}</label>
<select id="${list.name}" name="${list.name}"${describedBy(list.name, list.hint)}>
${list.options.map(({ value, label }) => html`<option value="${value}"${value === list.value && html` selected`}>${label}</option>`)}
</select>
${hintOf(list.name, list.hint)}
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
export const problemList = (problems: readonly string[]): Html | undefined => {
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
