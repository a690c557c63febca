/**
 * Rules for giving, changing and ending a membership (facts: Roles and visibility, Members API). Pure: a
 * problem comes back as a value, undefined when there is none; the caller makes it a response of its own or a
 * message in a list.
 */
import { joinsFreely } from '../../../kernel/actor.ts';
import { levelName, MINIMAL, OWNER } from '../../../kernel/policy/roles.ts';

export type Problem =
  | { kind: 'forbidden'; text: string }
  | { kind: 'taken'; text: string }
  | { kind: 'invalid'; property: 'access_level' | 'expires_at' | 'user'; text: string };

const forbids = (text: string): Problem => ({ kind: 'forbidden', text });
const rejects = (property: 'access_level' | 'expires_at' | 'user', text: string): Problem => ({
  kind: 'invalid',
  property,
  text,
});

export const alreadyMember: Problem = { kind: 'taken', text: 'Member already exists' };

/** A manager's request for any user. */
export type Grant = { access_level: number; expires_at: string | null; member_role_id?: number | null };

/**
 * Whether the caller may give this to any user. Minimal access exists on top-level groups of paid tiers only.
 */
export function grantProblem(
  source: { isTopLevelGroup: boolean; role: number },
  grant: Grant,
  circumstances: { tier: string; today: string },
): Problem | undefined {
  if (grant.access_level === MINIMAL && !(source.isTopLevelGroup && circumstances.tier !== 'free')) {
    return rejects('access_level', 'is not included in the list');
  }
  if (grant.access_level > source.role) return forbids('the access level is above your own');
  if (grant.expires_at !== null && grant.expires_at < circumstances.today) {
    return rejects('expires_at', 'cannot be a date in the past');
  }
  return undefined;
}

/** The highest role that a user has from the groups above, and from which. */
export type Inherited = { access_level: number; group_name: string };

/** A membership may add to the access from groups above, never take away from it. */
export function inheritanceProblem(level: number, inherited: Inherited | null): Problem | undefined {
  if (inherited === null || inherited.access_level <= level) return undefined;
  const { access_level, group_name } = inherited;
  return rejects(
    'access_level',
    `should be greater than or equal to ${levelName(access_level)} inherited membership from group ${group_name}`,
  );
}

export type Candidate = { id: number; kind: string; access_level: number; inherited: Inherited | null };

/** Whether this user can be given it here. Bots belong to their token's one project or group. */
export function additionProblem(
  source: { holder: { id: number } | undefined },
  candidate: Candidate,
): Problem | undefined {
  if (!joinsFreely(candidate.kind)) {
    return rejects('user', 'project bots cannot be added to other groups / projects');
  }
  if (candidate.id === source.holder?.id) return alreadyMember;
  return inheritanceProblem(candidate.access_level, candidate.inherited);
}

/** A membership, and the role of the caller who decides about it. */
type Standing = {
  user_kind: string;
  access_level: number;
  /** The caller's role. */
  role: number;
};

/** The owner of a personal project has no membership that could be changed or ended. */
export const holderProblem = (
  source: { holder: { id: number } | undefined },
  userId: number,
): Problem | undefined =>
  userId === source.holder?.id ? forbids('the member owns the personal project') : undefined;

const botProblem = (standing: Standing): Problem | undefined =>
  joinsFreely(standing.user_kind) ? undefined : forbids('the member is the bot of an access token');

/** Whether the membership may become the grant. No caller manages members above their own role. */
export function updateProblem(standing: Standing, grant: Grant, lastOwner: boolean): Problem | undefined {
  const refusal = botProblem(standing);
  if (refusal) return refusal;
  if (standing.access_level > standing.role) return forbids('the member has a higher access level than you');
  if (lastOwner && (grant.access_level < OWNER || grant.expires_at !== null)) {
    return forbids('the member is the last owner of the group');
  }
  return undefined;
}

type Lasting = { expires_at: string | null; member_role_id?: number | null };

/** A custom role that stays is given for longer, which is for owners as giving it is. */
export function prolongationProblem(role: number, before: Lasting, grant: Lasting): Problem | undefined {
  const isKept = grant.member_role_id != null && grant.member_role_id === before.member_role_id;
  const isLonger =
    before.expires_at !== null && (grant.expires_at === null || grant.expires_at > before.expires_at);
  return isKept && isLonger && role < OWNER
    ? forbids('only owners let a custom role last longer')
    : undefined;
}

/** Whether the membership may end: members may always leave, unless the group would have no owner. */
export function removalProblem(standing: Standing, self: boolean, lastOwner: boolean): Problem | undefined {
  const refusal = botProblem(standing);
  if (refusal) return refusal;
  if (!self && standing.access_level > standing.role) {
    return forbids('the member has a higher access level than you');
  }
  return lastOwner ? forbids('the member is the last owner of the group') : undefined;
}

const mailAddress = /^[^\s@<>,;]{1,64}@[^\s@<>,;.]+(\.[^\s@<>,;.]+)*$/;

/** Whether the text can be the mail address of an invitation. */
export const isMailAddress = (text: string): boolean => text.length <= 254 && mailAddress.test(text);
