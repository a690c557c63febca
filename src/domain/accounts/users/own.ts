/** Mounts endpoints twice: for the caller under /user, and for the user in the path. */
import { type Access, onUser, onUserAsAdmin, signedIn } from '../../../kernel/access/access.ts';
import { type AuthorizedUser, findUser } from '../../../kernel/access/users.ts';
import type { Actor, Caller } from '../../../kernel/actor.ts';

/** The caller, as the endpoint's user. */
const oneself: Access<AuthorizedUser, Actor> = {
  ...signedIn,
  find: async (request) => {
    const { actor } = await signedIn.find(request);
    return { subject: await findUser(request.sql, actor.id), actor };
  },
};

/** A mount of endpoints over a user: its path, and access for reading and changing. */
export type Mount<C extends Caller> = {
  path: string;
  whose: string;
  read: Access<AuthorizedUser, C>;
  write: Access<AuthorizedUser, Actor>;
};

export const own: Mount<Actor> = { path: '/user', whose: "the caller's", read: oneself, write: oneself };

/** Public to read; administrators change. */
export const publicOf = (parameter: 'id' | 'user_id'): Mount<Caller> => ({
  path: `/users/:${parameter}`,
  whose: "a user's",
  read: onUser(parameter),
  write: onUserAsAdmin(parameter),
});

/** For administrators only. */
export const privateOf = (parameter: 'id' | 'user_id'): Mount<Actor> => ({
  path: `/users/:${parameter}`,
  whose: "a user's",
  read: onUserAsAdmin(parameter),
  write: onUserAsAdmin(parameter),
});
