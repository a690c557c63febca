/** Databases of a lab: clones of one another, made and dropped by statements of their own. */
import { type ConnectionTarget, connect } from '../platform/db/database.ts';
import type { PoolSql } from '../platform/db/driver/sql.ts';

/** For statements about databases, one after the other: each connection is a process of 3 MB. */
export const connectToAdminister = (target: ConnectionTarget): PoolSql =>
  connect(target, { max: 1, statementTimeout: 0, name: 'lab' });

/** Files are copied for a third of what the same pages cost as log. Nobody is connected to `template`. */
export const cloneDatabase = (admin: PoolSql, template: string, name: string): Promise<unknown> =>
  admin.unsafe(`create database ${quoted(name)} template ${quoted(template)} strategy file_copy`);

/** With the connections that are left to it. */
export const dropDatabase = (admin: PoolSql, name: string): Promise<unknown> =>
  admin.unsafe(`drop database if exists ${quoted(name)} with (force)`);

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
