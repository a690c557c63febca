/** Endpoints of mail addresses: the caller's own, and for administrators every user's. */
import Type from 'typebox';
import { type Endpoint, endpoint, found, listing, noContent, Reply } from '../../../kernel/api/endpoint.ts';
import { mailAddress } from '../../../kernel/identity/addresses/rules.ts';
import { forbidden } from '../../../platform/failure.ts';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import { mapPage, selectPage } from '../../../platform/pagination/page.ts';
import { addEmail, deleteEmail } from './email-actions.ts';
import { own, privateOf } from './own.ts';
import { emailsOf } from './queries.ts';
import { readScopes } from './routes.ts';

const Email = Type.Object({
  id: Type.Integer(),
  email: Type.String(),
  confirmed_at: nullable(Type.String()),
});

const presentEmail = (row: { id: number; email: string; confirmed_at: Date | null }) => ({
  id: row.id,
  email: row.email,
  confirmed_at: row.confirmed_at?.toISOString() ?? null,
});

const EmailId = { email_id: Type.Integer() };
const Address = Type.String({ maxLength: 254, ruled: mailAddress, description: 'The address.' });

const endpointsOf = ({ path, whose, read, write }: typeof own): Endpoint[] => [
  listing({
    method: 'GET',
    path: `${path}/emails`,
    summary: `Lists ${whose} mail addresses.`,
    access: read,
    scopes: readScopes,
    item: Email,
    page: 'offset',
    handle: async ({ db, subject, page }) => {
      const order = { by: 'id', sort: 'asc' } as const;
      return mapPage(
        await selectPage(db, emailsOf(db, subject.id), page, order, { id: 'emails.id' }),
        presentEmail,
      );
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/emails/:email_id`,
    summary: `Removes one of ${whose} mail addresses that is not the primary one.`,
    access: write,
    input: Type.Object(EmailId),
    reply: noContent,
    handle: async ({ db, subject, actor, input, unmodified }) => {
      const row = await emailsOf(db, subject.id).where('id', '=', input.email_id).executeTakeFirst();
      unmodified(found(row, 'Email').updated_at);
      await deleteEmail(db, actor, subject.row, input.email_id);
      return new Reply(204);
    },
  }),
];

const administered = privateOf('id');

export const emailEndpoints: Endpoint[] = [
  ...endpointsOf(own),
  ...endpointsOf(administered),
  endpoint({
    method: 'GET',
    path: '/user/emails/:email_id',
    summary: "One of the caller's mail addresses.",
    access: own.read,
    scopes: readScopes,
    input: Type.Object(EmailId),
    reply: Email,
    handle: async ({ db, subject, input }) => {
      const row = await emailsOf(db, subject.id).where('id', '=', input.email_id).executeTakeFirst();
      return presentEmail(found(row, 'Email'));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/user/emails',
    summary: 'Adds a mail address of the caller, to be confirmed.',
    access: own.write,
    also: [409],
    input: Type.Object({ email: Address }),
    reply: Email,
    handle: async ({ db, services, subject, actor, input }) => {
      // A bot keeps its one address.
      if (actor.kind !== 'human') throw forbidden();
      const { secretKey } = services;
      const change = { actor, user: subject.row, email: input.email, confirmed: false, secretKey };
      return presentEmail(await addEmail(db, change));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/users/:id/emails',
    summary: 'Adds a mail address of a user.',
    access: administered.write,
    also: [409],
    input: Type.Object({
      email: Address,
      skip_confirmation: Type.Optional(Type.Boolean({ description: 'The address counts as confirmed.' })),
    }),
    reply: Email,
    handle: async ({ db, services, subject, actor, input }) => {
      const { secretKey } = services;
      const confirmed = input.skip_confirmation ?? false;
      return presentEmail(
        await addEmail(db, { actor, user: subject.row, email: input.email, confirmed, secretKey }),
      );
    },
  }),
];
