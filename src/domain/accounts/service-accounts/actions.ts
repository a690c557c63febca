/** Makes service accounts: users without a password, by which programs act. */
import type { AuthorizedGroup } from '../../../kernel/access/find.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import { type Actor, isTokenBot } from '../../../kernel/actor.ts';
import { pathProblems } from '../../../kernel/namespaces/paths.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import { lockedExternal } from '../../../kernel/users/bot-holder-actions.ts';
import { insertUser, newUserDefaults } from '../../../kernel/users/new-user-actions.ts';
import { now } from '../../../platform/clock.ts';
import { inTransaction } from '../../../platform/db/database.ts';
import { badRequest, forbidden, invalid } from '../../../platform/failure.ts';
import { randomHex } from '../../../platform/secret.ts';
import { requireFreeUsername } from '../users/actions.ts';
import { userEntity } from '../users/audits.ts';
import { releaseAddress, requireMailAddress } from '../users/email-actions.ts';
import type { NewServiceAccount } from './schema.ts';

type Context = {
  services: Needs<'config' | 'database' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Actor;
};

/** 400: mails to a service account's address go to nobody, who could confirm it; administrators vouch for theirs. */
export function requireVouched(actor: Actor, email: string | undefined): void {
  if (email !== undefined && !actor.admin)
    throw invalid({ email: ['is set by administrators alone: nobody could confirm it'] });
}

/** 403 unless owners of groups make service accounts here, 400 for a subgroup. */
function requireProvisioning({ services, settings, actor }: Context, group: AuthorizedGroup): void {
  // A token that is lost is not to leave accounts behind.
  if (isTokenBot(actor.kind)) throw forbidden();
  const ownersMay =
    settings.allow_top_level_group_owners_to_create_service_accounts || services.config.offering === 'hosted';
  if (!actor.admin && !ownersMay) throw forbidden();
  if (group.row.parent_id !== null) throw badRequest('Service accounts are made by top-level groups');
}

/** The id of a new service account, of the group's or of the instance; 409 where its username is taken. */
export async function createServiceAccount(
  context: Context,
  input: NewServiceAccount,
  group?: AuthorizedGroup,
): Promise<number> {
  const { services, settings, actor } = context;
  if (group) requireProvisioning(context, group);
  requireVouched(actor, input.email);
  if (input.email !== undefined) requireMailAddress(input.email);
  const username = input.username ?? `service_account_${randomHex(16)}`;
  const problems = pathProblems(username, 'top_level');
  if (problems.length > 0) throw invalid({ username: problems });
  const name = input.name ?? 'Service account user';
  const email = input.email ?? `${username}@noreply.${new URL(services.baseUrl()).hostname}`;
  return inTransaction(services.database.db, async (tx) => {
    await releaseAddress(tx, actor, email);
    await requireFreeUsername(tx, username);
    const { external } = newUserDefaults(settings);
    const id = await insertUser(tx, {
      username,
      name,
      email,
      kind: 'service_account',
      confirmed_at: now(),
      projects_limit: 0,
      can_create_group: false,
      // It sees no more than who made it.
      external: external || lockedExternal(actor.id),
      created_by_id: actor.id,
      provisioned_by_group_id: group?.id ?? null,
    });
    await announce(tx, {
      author: actor,
      audit: {
        entity: userEntity({ id, username }),
        event: 'user_created',
        details: { add: 'user', target_id: id, target_type: 'User', target_details: name },
      },
    });
    return id;
  });
}
