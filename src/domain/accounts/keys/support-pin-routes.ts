/** Support PINs: what a user tells the support, to be recognised by administrators (facts: 2.2, 2.3). */
import Type from 'typebox';
import { type Endpoint, endpoint, found, noContent } from '../../../kernel/api/endpoint.ts';
import { own, privateOf } from '../users/own.ts';
import { createPin, revokePin } from './support-pin-actions.ts';
import { readPin } from './support-pin-queries.ts';

const SupportPin = Type.Object({ pin: Type.String(), expires_at: Type.String() });

const users = privateOf('id');
const NAME = 'Support PIN';

export const supportPinEndpoints: Endpoint[] = [
  ...[own, users].map((side) =>
    endpoint({
      method: 'GET',
      path: `${side.path}/support_pin`,
      summary: `The PIN by which the support recognises ${side === own ? 'the caller' : 'a user'}; 404 without a valid one.`,
      access: side.read,
      reply: SupportPin,
      handle: async (context) => found(await readPin(context, context.subject.id), NAME),
    }),
  ),
  endpoint({
    method: 'POST',
    path: `${own.path}/support_pin`,
    summary: 'Gives the caller a new PIN for the support, for seven days; the one before is valid no more.',
    access: own.write,
    reply: SupportPin,
    handle: async (context) => createPin(context, context.subject),
  }),
  endpoint({
    method: 'POST',
    path: `${users.path}/support_pin/revoke`,
    summary: "Ends a user's PIN for the support; 404 without a valid one.",
    access: users.write,
    status: 204,
    reply: noContent,
    handle: async (context) => {
      await revokePin(context, context.subject);
      return null;
    },
  }),
];
