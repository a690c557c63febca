/** Databases of a lab: clones of one another, made and dropped by statements of their own. */
import { type ConnectionTarget, connect } from '../platform/db/database.ts';
import type { PoolSql } from '../platform/db/driver/sql.ts';

/** A connection for statements about databases, of which each takes one at a time. */
export const connectToAdminister = (target: ConnectionTarget): PoolSql =>
  connect(target, { max: 2, statementTimeout: 0, name: 'lab' });

/** Files are copied for a third of what the same pages cost as log. Nobody is connected to `template`. */
export const cloneDatabase = (admin: PoolSql, template: string, name: string): Promise<unknown> =>
  admin.unsafe(`create database ${quoted(name)} template ${quoted(template)} strategy file_copy`);

/** With the connections that are left to it. */
export const dropDatabase = (admin: PoolSql, name: string): Promise<unknown> =>
  admin.unsafe(`drop database if exists ${quoted(name)} with (force)`);

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
