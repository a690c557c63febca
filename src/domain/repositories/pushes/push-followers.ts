/** Registry of what others do about a git push to a project that was taken, and tell the one who pushes. */
import type { Actor } from '../../../kernel/actor.ts';
import { Registry } from '../../../kernel/registry.ts';
import type { Services } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';

export type FollowerServices = Pick<
  Services,
  | 'config'
  | 'database'
  | 'settings'
  | 'instance'
  | 'limiter'
  | 'repositories'
  | 'outbound'
  | 'registered'
  | 'log'
  | 'secretKey'
  | 'baseUrl'
  | 'presence'
  | 'wake'
>;

export type TakenPush = {
  services: FollowerServices;
  settings: ApplicationSettings;
  request: HttpRequest;
  /** Whoever pushed is checked anew for what follows. */
  actor: Actor;
  projectId: number;
  /** Those that git took. */
  updates: readonly RefUpdate[];
  /** The texts behind `-o`. */
  options: readonly string[];
};

/** Runs before the client gets its report. The lines are shown to people; a failure never fails the push. */
export type PushFollower = (push: TakenPush) => Promise<readonly string[]>;

export const pushFollowers = new Registry<PushFollower>();
