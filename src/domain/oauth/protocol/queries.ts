/** Finds the application that a program names. */
import type { Sql } from '../../../platform/db/driver/sql.ts';

/** An application for the protocol. */
export type Client = {
  id: number;
  uid: string;
  name: string;
  secret_digest: Buffer | null;
  redirect_uris: string[];
  scopes: string[];
  confidential: boolean;
  trusted: boolean;
  dynamic: boolean;
};

/** The application with the public id; undefined without one. */
export async function selectClient(sql: Sql, uid: string): Promise<Client | undefined> {
  // Nothing has refused it in a header yet, and the database cannot compare with it.
  if (uid.includes('\0')) return undefined;
  const [row] = await sql<Client[]>`
    select id, uid, name, secret_digest, redirect_uris, scopes, confidential, trusted, dynamic
    from oauth_applications where uid = ${uid}`;
  return row;
}
