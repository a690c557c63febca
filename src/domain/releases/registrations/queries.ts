/** Reads releases for mails. */
import { type RawBuilder, sql } from 'kysely';

export type MailedRelease = {
  id: number;
  tag: string;
  name: string | null;
  description: string | null;
  author_id: number;
};

export const selectMailedRelease = (projectId: number, id: number): RawBuilder<unknown> =>
  sql`select id, tag, name, description, author_id from releases where id = ${id} and project_id = ${projectId}`;
