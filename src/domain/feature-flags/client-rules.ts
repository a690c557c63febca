/** What programs read of a project's flags (facts for CI: Feature flags), and by which token. Pure. */
import { fits } from '../../platform/patterns/wildcard.ts';
import { authenticate, deriveKey, sameSecret } from '../../platform/secret.ts';
import type { StoredStrategy } from './rules.ts';

const PREFIX = 'glffct-';

export type Client = { projectId: number; generation: number };

/** The token of a project's programs, which they call the instance id. */
export const clientToken = (secretKey: string, { projectId, generation }: Client): string =>
  PREFIX + authenticate(deriveKey(secretKey, 'feature flag clients'), `${projectId}:${generation}`);

export const isClientToken = (secretKey: string, client: Client, presented: string): boolean =>
  sameSecret(presented, clientToken(secretKey, client));

type Flag = {
  name: string;
  description: string | null;
  active: boolean;
  strategies: readonly StoredStrategy[];
};

export type ClientFeature = {
  name: string;
  description: string;
  enabled: boolean;
  strategies: { name: string; parameters: Record<string, string> }[];
};

type Lists = ReadonlyMap<number, { user_xids: string }>;

/** Programs know of no lists: they get the users on one. */
const clientStrategy = ({ name, parameters, user_list_id: list }: StoredStrategy, lists: Lists) =>
  list === undefined
    ? { name, parameters }
    : { name: 'userWithId', parameters: { userIds: lists.get(list)?.user_xids ?? '' } };

/** The flags that have strategies for the environment; programs call it the name of the application. */
export const featuresOf = (flags: readonly Flag[], lists: Lists, environment: string): ClientFeature[] =>
  flags.flatMap(({ name, description, active, strategies }) => {
    const here = strategies.filter(({ scopes }) =>
      scopes.some(({ environment_scope }) => fits(environment, environment_scope)),
    );
    if (here.length === 0) return [];
    const shown = here.map((strategy) => clientStrategy(strategy, lists));
    return [{ name, description: description ?? '', enabled: active, strategies: shown }];
  });
