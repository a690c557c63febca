/** Pure rules of users: states, profiles, and valid fields. */
import { isInternal } from '../../../kernel/actor.ts';
import type { ValidationMessages } from '../../../platform/failure.ts';
import { isWebAddress } from '../../../platform/http/web-address.ts';

type UserState = 'active' | 'blocked' | 'deactivated' | 'banned' | 'blocked_pending_approval';

export const stateChanges = ['block', 'unblock', 'ban', 'unban', 'activate', 'deactivate'] as const;
export type StateChange = (typeof stateChanges)[number];

/** Days without activity after which a user is dormant and may be deactivated. */
const DORMANT_AFTER_DAYS = 90;

const isDormant = (subject: { last_activity_on: string | null }, today: string): boolean =>
  subject.last_activity_on === null ||
  Date.parse(today) - Date.parse(subject.last_activity_on) > DORMANT_AFTER_DAYS * 86_400_000;

type StateRule = {
  from: readonly UserState[];
  to: UserState;
  event: string;
  refusal: string;
};

/** Each change with its permitted states, its result, and the message for other states. */
export const stateRules: Record<StateChange, StateRule> = {
  block: {
    from: ['active', 'deactivated', 'blocked_pending_approval', 'blocked'],
    to: 'blocked',
    event: 'user_blocked',
    refusal: 'A banned user cannot be blocked by the API',
  },
  unblock: {
    from: ['blocked', 'active'],
    to: 'active',
    event: 'user_unblocked',
    refusal: 'Only blocked users can be unblocked by the API',
  },
  ban: {
    from: ['active'],
    to: 'banned',
    event: 'user_banned',
    refusal: 'Only active users can be banned by the API',
  },
  unban: {
    from: ['banned'],
    to: 'active',
    event: 'user_unbanned',
    refusal: 'Only banned users can be unbanned by the API',
  },
  activate: {
    from: ['deactivated', 'active'],
    to: 'active',
    event: 'user_activated',
    refusal: 'A blocked user must be unblocked to be activated',
  },
  deactivate: {
    from: ['active', 'deactivated'],
    to: 'deactivated',
    event: 'user_deactivated',
    refusal: 'A blocked user cannot be deactivated by the API',
  },
};

/** The reason of a refusal; undefined for a permitted change (facts §2: wrong state 403). */
export function stateRefusal(
  change: StateChange,
  subject: { state: string; kind: string; last_activity_on: string | null },
  today: string,
): string | undefined {
  if (isInternal(subject.kind)) return 'An internal user cannot be changed by the API';
  const { from, refusal } = stateRules[change];
  if (!(from as readonly string[]).includes(subject.state)) return refusal;
  const awake = change === 'deactivate' && subject.state === 'active' && !isDormant(subject, today);
  if (!awake) return undefined;
  return `The user you are trying to deactivate has been active in the past ${DORMANT_AFTER_DAYS} days and cannot be deactivated`;
}

/** Job and organization in one line, or null. */
export function workInformation(user: { job_title: string; organization: string | null }): string | null {
  const { job_title, organization } = user;
  if (job_title !== '' && organization) return `${job_title} at ${organization}`;
  return job_title || organization || null;
}

/** The local time of the user's zone, such as `3:04 PM`; null for an unknown zone. */
export function localTime(timezone: string | null, time: Date): string | null {
  if (timezone === null) return null;
  try {
    return new Intl.DateTimeFormat('en-US', {
      hour: 'numeric',
      minute: '2-digit',
      timeZone: timezone,
    }).format(time);
  } catch {
    // This Node does not know the zone.
    return null;
  }
}

/** Empty, or a user id of Discord. */
export const discordPattern = '^(?:[0-9]{17,20})?$';
const DISCORD = new RegExp(discordPattern);

type ProfileFields = {
  name?: string | undefined;
  website_url?: string | null | undefined;
  discord?: string | null | undefined;
};

/** Messages by property for invalid fields. */
export function profileProblems(fields: ProfileFields): ValidationMessages {
  const problems: ValidationMessages = {};
  const { name, website_url, discord } = fields;
  if (name !== undefined && name.trim() === '') problems.name = ["can't be blank"];
  if (website_url && !isWebAddress(website_url)) problems.website_url = ['is not a valid URL'];
  if (discord && !DISCORD.test(discord)) problems.discord = ['must contain only a discord user ID.'];
  return problems;
}
