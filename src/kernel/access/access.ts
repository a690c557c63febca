/** The required access rule of an endpoint: finds the subject and decides in one step. */
import type { Sql } from '../../platform/db/driver/sql.ts';
import { forbidden, unauthenticated } from '../../platform/failure.ts';
import type { Actor, Caller } from '../actor.ts';
import type { DeployToken } from '../identity/deploy-token-queries.ts';
import {
  type GroupAbility,
  groupPolicy,
  isForAnonymous,
  type ProjectAbility,
  projectPolicy,
} from '../policy/policy.ts';
import type { Needs } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';
import {
  type AuthorizedGroup,
  type AuthorizedInstance,
  type AuthorizedProject,
  authorizeGroup,
  authorizeInstance,
  authorizeProject,
} from './find.ts';
import { type AuthorizedUser, findUser } from './users.ts';

export type Found<Subject, C extends Caller> = { subject: Subject; actor: C };

export type AccessRequest = {
  /** For point reads. */
  sql: Sql;
  services: Needs<'database' | 'registered'>;
  settings: ApplicationSettings;
  caller: Caller;
  /** In place of a caller, where the endpoint takes one. */
  deployToken?: DeployToken | undefined;
  /** Path parameters. */
  params: Record<string, string>;
};

export type Access<Subject, C extends Caller> = {
  /** For the access matrix and the documentation. */
  sentence: {
    on: 'anyone' | 'signed_in' | 'instance' | 'project' | 'group' | 'user' | 'snippet' | 'runner';
    ability: string;
  };
  /** Whether an anonymous caller can ever succeed. */
  anonymous: boolean;
  find(request: AccessRequest): Promise<Found<Subject, C>>;
};

const requireActor = (caller: Caller): Actor => {
  if (!caller) throw unauthenticated();
  return caller;
};

/** Public, with or without credentials. */
export const anyone: Access<undefined, Caller> = {
  sentence: { on: 'anyone', ability: 'call' },
  anonymous: true,
  find: async ({ caller }) => ({ subject: undefined, actor: caller }),
};

/** Any caller with valid credentials. */
export const signedIn: Access<undefined, Actor> = {
  sentence: { on: 'signed_in', ability: 'call' },
  anonymous: false,
  find: async ({ caller }) => ({ subject: undefined, actor: requireActor(caller) }),
};

/** Administrators only. */
export const onInstance: Access<AuthorizedInstance, Actor> = {
  sentence: { on: 'instance', ability: 'administer' },
  anonymous: false,
  find: async ({ caller }) => {
    const { instance, actor } = authorizeInstance(caller);
    return { subject: instance, actor };
  },
};

type CallerFor<Rule> = Rule extends { visible: 'anyone' } | { open: 'anyone' } ? Caller : Actor;

/** A project by a path parameter, as id or URL-encoded full path; `reason` is added to a 403. */
export const onProject = <A extends ProjectAbility>(
  ability: A,
  parameter = 'id',
  reason?: string,
): Access<AuthorizedProject, CallerFor<(typeof projectPolicy)[A]>> => ({
  sentence: { on: 'project', ability },
  anonymous: isForAnonymous(projectPolicy[ability]),
  find: async ({ sql, caller, params }) => ({
    subject: await authorizeProject(sql, caller, ability, params[parameter] ?? '', reason),
    // authorizeProject() refused anonymous callers where the rule does.
    actor: caller as CallerFor<(typeof projectPolicy)[A]>,
  }),
});

/** A group by a path parameter, as id or URL-encoded full path. */
export const onGroup = <A extends GroupAbility>(
  ability: A,
  parameter = 'id',
): Access<AuthorizedGroup, CallerFor<(typeof groupPolicy)[A]>> => ({
  sentence: { on: 'group', ability },
  anonymous: isForAnonymous(groupPolicy[ability]),
  find: async ({ sql, caller, params }) => ({
    subject: await authorizeGroup(sql, caller, ability, params[parameter] ?? ''),
    // As above.
    actor: caller as CallerFor<(typeof groupPolicy)[A]>,
  }),
});

/** A user, readable by every caller. */
export const onUser = (parameter = 'id'): Access<AuthorizedUser, Caller> => ({
  sentence: { on: 'user', ability: 'read_user' },
  anonymous: true,
  find: async ({ sql, caller, params }) => ({
    subject: await findUser(sql, params[parameter] ?? ''),
    actor: caller,
  }),
});

/** A user, for administrators. */
export const onUserAsAdmin = (parameter = 'id'): Access<AuthorizedUser, Actor> => ({
  sentence: { on: 'user', ability: 'administer_user' },
  anonymous: false,
  find: async ({ sql, caller, params }) => {
    const { actor } = authorizeInstance(caller);
    return { subject: await findUser(sql, params[parameter] ?? ''), actor };
  },
});

/** The caller's own account, or any account for an administrator. */
export const onOwnUser = (parameter = 'id'): Access<AuthorizedUser, Actor> => ({
  sentence: { on: 'user', ability: 'manage_own_user' },
  anonymous: false,
  find: async ({ sql, caller, params }) => {
    const actor = requireActor(caller);
    const subject = await findUser(sql, params[parameter] ?? '');
    if (!actor.admin && subject.id !== actor.id) throw forbidden();
    return { subject, actor };
  },
});
