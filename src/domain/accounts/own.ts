/** Whose things an endpoint is about: the caller's own under /user, or those of the user whom the path names. */
import { type Access, onUser, onUserAsAdmin, signedIn } from '../../core/access/access.ts';
import { type AuthorizedUser, findUser } from '../../core/access/users.ts';
import type { Actor, Caller } from '../../core/identity/actor.ts';

/** The caller, as the user whose things are asked for. */
const oneself: Access<AuthorizedUser, Actor> = {
  ...signedIn,
  find: async (request) => {
    const { actor } = await signedIn.find(request);
    return { subject: await findUser(request.sql, actor.id), actor };
  },
};

/** One set of endpoints over a user's things: its path, and who may read and who may change. */
export type Mount<C extends Caller> = {
  path: string;
  whose: string;
  read: Access<AuthorizedUser, C>;
  write: Access<AuthorizedUser, Actor>;
};

export const own: Mount<Actor> = { path: '/user', whose: "the caller's", read: oneself, write: oneself };

/** A user's things that everybody may look at, and administrators change. */
export const publicOf = (parameter: 'id' | 'user_id'): Mount<Caller> => ({
  path: `/users/:${parameter}`,
  whose: "a user's",
  read: onUser(parameter),
  write: onUserAsAdmin(parameter),
});

/** A user's things that are for administrators alone. */
export const privateOf = (parameter: 'id' | 'user_id'): Mount<Actor> => ({
  path: `/users/:${parameter}`,
  whose: "a user's",
  read: onUserAsAdmin(parameter),
  write: onUserAsAdmin(parameter),
});
