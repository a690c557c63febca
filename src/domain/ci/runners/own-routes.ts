/** What runners call themselves: their token is the credential, whoever else the caller is. */
import { anyone } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, noContent } from '../../../kernel/api/endpoint.ts';
import { Failure } from '../../../platform/failure.ts';
import { digest } from '../../../platform/secret.ts';
import { createRunner, deleteRunner, resetToken } from './actions.ts';
import { authenticateRunner, identifyRunner, presentedToken } from './authenticate.ts';
import type { AuthenticRunner } from './authenticate-queries.ts';
import { deleteManager } from './manager-actions.ts';
import { presentToken } from './present.ts';
import { selectRegistering } from './queries.ts';
import { registeringHome } from './rules.ts';
import {
  Discovery,
  ManagerInput,
  RegisterInput,
  Registration,
  TokenInput,
  TokenRecord,
  VerifyInput,
} from './schema.ts';

/** A user who asks for a runner is nobody here. */
const asRunner = <Given extends object>(context: Given) => ({ ...context, actor: undefined });

export const ownRunnerEndpoints: Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/runners',
    summary: 'Registers a runner by a registration token; its own is shown here alone.',
    access: anyone,
    also: [410],
    deprecated: { use: 'POST /user/runners' },
    input: RegisterInput,
    reply: Registration,
    handle: async (context) => {
      const { db, settings, input, request } = context;
      const { token: _, info, ...fields } = input;
      const found = await selectRegistering(db, digest(presentedToken(input, request)));
      const home = registeringHome(settings, found);
      const by = { registration: 'registration_token', program: info?.name ?? null } as const;
      return presentToken(await createRunner(asRunner(context), home, fields, by));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/runners/verify',
    summary: 'Whether the token is that of a runner.',
    access: anyone,
    status: 200,
    also: [422],
    input: VerifyInput,
    reply: Registration,
    handle: async ({ services, input, request }) => {
      // One that a user made is heard of when it asks for jobs.
      const isHeard = (found: AuthenticRunner) => found.registration_type === 'registration_token';
      const { runner, token } = await authenticateRunner(services, input, request, isHeard);
      return presentToken({ id: runner.id, token, expiresAt: runner.token_expires_at });
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/runners',
    summary: 'Deletes the runner of the token.',
    access: anyone,
    input: TokenInput,
    reply: noContent,
    handle: async (context) => {
      const { services, input, request, unmodified } = context;
      const { id } = await identifyRunner(services, input, request);
      await deleteRunner(asRunner(context), id, unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/runners/managers',
    summary: 'Forgets a process that used the token.',
    access: anyone,
    input: ManagerInput,
    reply: noContent,
    handle: async ({ db, services, input, request, unmodified }) => {
      const { id } = await identifyRunner(services, input, request);
      await deleteManager(db, { runnerId: id, systemId: input.system_id }, unmodified);
      return null;
    },
  }),
  endpoint({
    method: 'POST',
    path: '/runners/reset_authentication_token',
    summary: 'Makes another token for the runner of the token, which is worth nothing any more.',
    access: anyone,
    input: TokenInput,
    reply: TokenRecord,
    handle: async (context) => {
      const { services, input, request } = context;
      const runner = await identifyRunner(services, input, request);
      return presentToken(await resetToken(asRunner(context), runner.id, runner.digest));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/runners/router/discovery',
    summary: 'Where the router of jobs is: there is none.',
    access: anyone,
    also: [501],
    reply: Discovery,
    handle: async ({ services, request }) => {
      await identifyRunner(services, {}, request);
      throw new Failure('not_implemented', '501 Not Implemented');
    },
  }),
];
