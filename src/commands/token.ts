/** ashlar token create: an access token from the command line, for whoever has the machine. */

import { reachDatabase } from '../instance.ts';
import { scopeNames } from '../kernel/actor.ts';
import type { Config } from '../kernel/config.ts';
import { createSettingsSource } from '../kernel/settings/settings.ts';
import { connect } from '../platform/db/database.ts';
import { randomText } from '../platform/secret.ts';
import { insertToken } from './actions.ts';

export type TokenOrder = { user: string; name: string; scopes: string[]; days: number };

/** Makes the token and returns its text, which is stored nowhere. Throws for an unknown user, scope or lifetime. */
export async function createTokenFromCommandLine(config: Config, order: TokenOrder): Promise<string> {
  const unknown = order.scopes.filter((scope) => !scopeNames.some((name) => name === scope));
  if (unknown.length > 0)
    throw new Error(`unknown scope: ${unknown.join(', ')}; there are ${scopeNames.join(', ')}`);
  if (!Number.isInteger(order.days) || order.days < 1 || order.days > 365)
    throw new Error('--days takes 1 to 365');
  const reached = await reachDatabase(config);
  const sql = connect(reached.target, { max: 1, statementTimeout: 10_000, name: 'token' });
  try {
    const { personal_access_token_prefix: prefix } = await createSettingsSource(sql).read();
    const token = `${prefix}${randomText(15)}`;
    if (!(await insertToken(sql, token, order))) throw new Error(`no active user '${order.user}'`);
    return token;
  } finally {
    await sql.end();
    await reached.close();
  }
}
