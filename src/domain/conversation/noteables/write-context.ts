/** Context of writes of issues and epics: the caller and its request. */

import type { Actor } from '../../../kernel/actor.ts';
import type { Needs } from '../../../kernel/services.ts';
import type { ApplicationSettings } from '../../../kernel/settings/definitions.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';

export type WriteContext = {
  db: Db;
  services: Needs<
    | 'config'
    | 'database'
    | 'limiter'
    | 'repositories'
    | 'outbound'
    | 'registered'
    | 'log'
    | 'secretKey'
    | 'baseUrl'
  >;
  settings: ApplicationSettings;
  actor: Actor;
  request: HttpRequest;
};

/** The part for writes without a request to check for spam. */
export type ActorContext = Pick<WriteContext, 'db' | 'services' | 'actor'>;
