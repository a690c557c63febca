/** The request of a search, one value for all scopes: caller, container, text. */
import type { AuthorizedGroup, AuthorizedProject } from '../../kernel/access/find.ts';
import type { Caller } from '../../kernel/actor.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import type { Db } from '../../platform/db/database.ts';
import type { PageRequest } from '../../platform/pagination/page.ts';

/** The container of a search: the instance, a group and all below it, or a project. */
export type SearchContainer =
  | { in: 'instance' }
  | { in: 'group'; group: AuthorizedGroup }
  | { in: 'project'; project: AuthorizedProject };

export type SearchRequest = {
  db: Db;
  services: Needs<'config' | 'database' | 'repositories' | 'registered' | 'baseUrl'>;
  settings: ApplicationSettings;
  actor: Caller;
  container: SearchContainer;
  search: string;
  state?: 'all' | 'opened' | 'closed' | 'merged' | undefined;
  confidential?: boolean | undefined;
  /** In a project it has no effect, even if that is archived. */
  includeArchived: boolean;
  ref?: string | undefined;
  page: PageRequest & { kind: 'offset' };
};

/** An empty page. */
export const nothing = { items: [], total: 0, more: false };
