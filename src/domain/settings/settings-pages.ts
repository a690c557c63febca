/** The pages on which administrators read and change the application settings, section by section. */
import {
  type AdminContext,
  type AdminNotice,
  adminPage,
  adminToken,
  doneNote,
  showAdminPage,
} from '../../kernel/api/admin-page.ts';
import { type FormProblems, formProblems, hasProblems, noProblems } from '../../kernel/api/form-problems.ts';
import { type Page, redirect } from '../../kernel/api/page.ts';
import { settingSections } from '../../kernel/settings/definitions.ts';
import { notFound } from '../../platform/failure.ts';
import type { HttpResponse } from '../../platform/http/messages.ts';
import type { SettingsInput } from './schema.ts';
import {
  changesIn,
  fieldsOf,
  isSection,
  marksOf,
  type SectionName,
  textOf,
  typedText,
} from './settings-form.ts';
import { settingsChangeEndpoint } from './settings-routes.ts';
import { SETTINGS_PATH, sectionForm, sectionList } from './settings-views.ts';

const doneWords = {
  saved: 'Saved. All processes go by it.',
  same: 'Nothing was changed, so nothing is saved.',
};

async function showSections(context: AdminContext): Promise<HttpResponse> {
  return showAdminPage(context, { title: 'Settings', body: sectionList(context.settings) });
}

function sectionOf({ request }: AdminContext): SectionName {
  const name = request.params.section ?? '';
  if (!isSection(name)) throw notFound('Page');
  return name;
}

function showSection(
  context: AdminContext,
  section: SectionName,
  form: { texts: ReadonlyMap<string, string>; marks: string; problems: FormProblems },
): HttpResponse {
  const { settings } = context;
  const note = doneNote(context, doneWords);
  const body = sectionForm({ ...form, section, settings, token: adminToken(context), note });
  const status = hasProblems(form.problems) ? 422 : 200;
  return showAdminPage(context, { title: settingSections[section].title, body, status });
}

async function readSection(context: AdminContext): Promise<HttpResponse> {
  const section = sectionOf(context);
  const { settings } = context;
  const fields = fieldsOf(section);
  const texts = new Map(fields.map((field) => [field.name, textOf(field, settings)]));
  return showSection(context, section, { texts, marks: marksOf(fields, settings), problems: noProblems });
}

async function changeSection(context: AdminContext): Promise<HttpResponse> {
  const { api, field: typed } = context;
  const section = sectionOf(context);
  const fields = fieldsOf(section);
  const marks = typed('shown');
  const { changes, unreadable } = changesIn(fields, typed, marks);
  const again = (problems: FormProblems): HttpResponse => {
    const texts = new Map(
      fields.map((field) => [field.name, field.kind === 'secret' ? '' : typedText(field, typed)]),
    );
    return showSection(context, section, { texts, marks, problems });
  };
  if (unreadable.length > 0)
    return again({ fields: new Map(unreadable.map((name) => [name, 'This is not JSON.'])), general: [] });
  const path = `${SETTINGS_PATH}/${section}`;
  if (Object.keys(changes).length === 0) return redirect(`${path}?done=same`);
  try {
    // The endpoint decodes the values.
    await api.change(settingsChangeEndpoint, changes as SettingsInput);
  } catch (error) {
    return again(
      formProblems(
        error,
        fields.map(({ name }) => name),
      ),
    );
  }
  return redirect(`${path}?done=saved`);
}

/** That writes are refused, for the first page. */
export const maintenanceNotice = async ({ settings }: AdminContext): Promise<AdminNotice | undefined> =>
  settings.maintenance_mode
    ? { text: 'Maintenance mode is on: writes are refused.', path: `${SETTINGS_PATH}/operation` }
    : undefined;

export const settingsPages: Page[] = [
  adminPage({ method: 'GET', path: SETTINGS_PATH, handle: showSections }),
  adminPage({ method: 'GET', path: `${SETTINGS_PATH}/:section`, handle: readSection }),
  adminPage({ method: 'POST', path: `${SETTINGS_PATH}/:section`, handle: changeSection }),
];
