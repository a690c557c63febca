/** Which broadcast messages somebody is shown. Pure. */
import { fits } from '../../platform/patterns/wildcard.ts';

export const broadcastTypes = ['banner', 'notification'] as const;
export type BroadcastType = (typeof broadcastTypes)[number];

export const broadcastThemes = [
  'indigo',
  'light-indigo',
  'blue',
  'light-blue',
  'green',
  'light-green',
  'red',
  'light-red',
  'dark',
  'light',
] as const;
export type BroadcastTheme = (typeof broadcastThemes)[number];

/** A message whose time is not over. */
export type Broadcast = {
  id: number;
  message: string;
  starts_at: Date;
  ends_at: Date;
  /** Levels of members; empty for everybody. */
  target_access_levels: readonly number[];
  /** A path in which `*` stands for anything; null or empty for all. */
  target_path: string | null;
  broadcast_type: BroadcastType;
  theme: BroadcastTheme;
  dismissable: boolean;
};

export const isActive = (
  { starts_at, ends_at }: Pick<Broadcast, 'starts_at' | 'ends_at'>,
  time: Date,
): boolean => starts_at <= time && time < ends_at;

/** Newest first, as they came: those that run, for the path, with a slash at its start. */
export const broadcastsAt = (broadcasts: readonly Broadcast[], path: string, time: Date): Broadcast[] =>
  broadcasts.filter((each) => isActive(each, time) && (!each.target_path || fits(path, each.target_path)));

/** Whether the message is for somebody of this level in the project or group around them; 0 for no member, and elsewhere. */
export const isFor = ({ target_access_levels: levels }: Broadcast, level: number): boolean =>
  levels.length === 0 || levels.includes(level);

/** All banners, then of the notifications the newest. */
export function withOneNotification(broadcasts: readonly Broadcast[]): Broadcast[] {
  const isBanner = (each: Broadcast): boolean => each.broadcast_type === 'banner';
  const newest = broadcasts.find((each) => !isBanner(each));
  return [...broadcasts.filter(isBanner), ...(newest ? [newest] : [])];
}

/** The path of the project or group that the address of a page names; undefined for pages that are of none. */
export function subjectPath(path: string): string | undefined {
  const dash = path.indexOf('/-/');
  const subject = (dash < 0 ? path : path.slice(0, dash)).replace(/^\/(groups\/)?/, '');
  return subject === '' || subject.startsWith('-/') ? undefined : subject;
}

const COOKIE = 'hide_broadcast_message_';

/** The cookie by which a browser remembers that its user has seen the message. */
export const dismissalCookie = (id: number): string => `${COOKIE}${id}`;

/** Notifications can always be put away. */
export const isDismissable = ({ dismissable, broadcast_type }: Broadcast): boolean =>
  dismissable || broadcast_type === 'notification';

/** The messages that the user of the browser has not put away. */
export function undismissed(broadcasts: readonly Broadcast[], cookies: string | undefined): Broadcast[] {
  if (!cookies?.includes(COOKIE)) return [...broadcasts];
  const names = new Set(cookies.split(';').map((each) => each.split('=', 1)[0]?.trim()));
  return broadcasts.filter((each) => !isDismissable(each) || !names.has(dismissalCookie(each.id)));
}

/** Lines that git shows to whoever pushes. A terminal is controlled by none of them. */
export const linesOf = (broadcasts: readonly Broadcast[]): string[] =>
  broadcasts
    .filter((each) => each.broadcast_type === 'banner')
    .flatMap(({ message }) => ['', ...message.split(/\r\n|[\n\r]/), ''])
    .map((line) => line.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' '));
