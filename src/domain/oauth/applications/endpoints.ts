/** Endpoints of the instance's applications: administrators only (spec: OAuth 2.0 provider; facts §8). */
import Type from 'typebox';
import { onInstance } from '../../../kernel/access/access.ts';
import type { AuthorizedInstance } from '../../../kernel/access/find.ts';
import { type Endpoint, endpoint, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { invalid } from '../../../platform/failure.ts';
import { notBlank } from '../../../platform/http/parameters/schema.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import {
  type ApplicationRow,
  createApplication,
  deleteApplication,
  findApplication,
  listApplications,
  type Owner,
  renewSecret,
} from './actions.ts';
import { checkApplication, MAX_NAME_LENGTH, redirectUrisPattern, scopesPattern } from './rules.ts';

const fields = {
  id: Type.Integer(),
  application_id: Type.String({ description: 'The public client id.' }),
  application_name: Type.String(),
  callback_url: Type.String({ description: 'Redirect URIs, one a line.' }),
  confidential: Type.Boolean(),
};
const Application = Type.Object(fields);
const ApplicationWithSecret = Type.Object({
  ...fields,
  secret: Type.String({ description: 'Shown this once.' }),
});

const presentApplication = (row: ApplicationRow) => ({
  id: row.id,
  application_id: row.uid,
  application_name: row.name,
  callback_url: row.redirect_uris.join('\n'),
  confidential: row.confidential,
});

const ofInstance = (instance: AuthorizedInstance): Owner => ({ of: 'instance', instance });
const named = Type.Object({ id: Type.Integer() });

export const applicationEndpoints: Endpoint[] = [
  listing({
    method: 'GET',
    path: '/applications',
    summary: 'OAuth applications of the instance.',
    access: onInstance,
    item: Application,
    page: 'offset',
    handle: async ({ db, subject, page }) =>
      mapPage(await listApplications(db, ofInstance(subject), page), presentApplication),
  }),
  endpoint({
    method: 'POST',
    path: '/applications',
    summary: 'Registers an OAuth application of the instance; its secret is shown this once.',
    access: onInstance,
    input: Type.Object({
      name: Type.String({ ruled: { pattern: notBlank.ruled.pattern, maxLength: MAX_NAME_LENGTH } }),
      redirect_uri: Type.String({
        ruled: { format: 'redirect-uris', pattern: redirectUrisPattern },
        description: 'Redirect URIs, one a line.',
      }),
      scopes: Type.String({ ruled: { pattern: scopesPattern }, description: 'Separated by spaces.' }),
      confidential: Type.Optional(Type.Boolean({ default: true })),
    }),
    reply: ApplicationWithSecret,
    handle: async ({ db, settings, actor, subject, input }) => {
      const { name, redirect_uri: redirectUris, scopes, confidential = true } = input;
      const request = { name, redirectUris, scopes, confidential };
      const checked = checkApplication(request, settings.oauth_plain_http_allowed);
      if ('problems' in checked) throw invalid(checked.problems);
      const { row, secret } = await createApplication(db, actor, ofInstance(subject), checked.draft);
      return { ...presentApplication(row), secret };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/applications/:id',
    summary: 'Deletes an OAuth application of the instance, with every token given for it.',
    access: onInstance,
    input: named,
    reply: noContent,
    handle: async ({ db, actor, subject, input, unmodified }) => {
      const owner = ofInstance(subject);
      unmodified((await findApplication(db, owner, input.id)).updated_at);
      await deleteApplication(db, actor, owner, input.id);
      return new Reply(204);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/applications/:id/renew-secret',
    summary: 'Gives an OAuth application another secret, shown this once.',
    access: onInstance,
    input: named,
    reply: ApplicationWithSecret,
    handle: async ({ db, actor, subject, input }) => {
      const { row, secret } = await renewSecret(db, actor, ofInstance(subject), input.id);
      return { ...presentApplication(row), secret };
    },
  }),
];
