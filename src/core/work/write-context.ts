/** What whoever writes issues and epics is given: the caller, and the request that it came with. */
import type { Db } from '../../platform/db/database.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import type { Actor } from '../identity/actor.ts';
import type { Services } from '../services.ts';
import type { ApplicationSettings } from '../settings/definitions.ts';

export type WriteContext = {
  db: Db;
  services: Services;
  settings: ApplicationSettings;
  actor: Actor;
  request: HttpRequest;
};

/** As much of it as what changes issues and epics needs where no request is judged. */
export type ActorContext = Pick<WriteContext, 'db' | 'services' | 'actor'>;
