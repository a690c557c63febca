/** Adds links to releases, changes and removes them. */
import { found } from '../../../kernel/api/endpoint.ts';
import { now } from '../../../platform/clock.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { announceRelease, requireTag, type WriteContext } from '../actions.ts';
import { lockRelease } from '../queries.ts';
import type { ReleaseRow } from '../release-row.ts';
import { countLinks, type LinkRow, selectLink } from './queries.ts';
import { type LinkFields, linkOf, type NewLink, requirePlace } from './rules.ts';
import type { LinkChanges } from './schema.ts';

/** Changes the links of a release, which takes turns; the release has changed then. 404 without it. */
async function onLinks<T>(
  context: WriteContext,
  tag: string,
  work: (tx: Db, release: ReleaseRow) => Promise<T>,
): Promise<T> {
  await requireTag(context, tag);
  return inTransaction(context.services.database.db, async (tx) => {
    const release = found(await lockRelease(tx, context.subject.id, tag));
    const value = await work(tx, release);
    await ahead(tx).updateTable('releases').set({ updated_at: now() }).where('id', '=', release.id).execute();
    await announceRelease(tx, context, 'release_updated', release);
    return value;
  });
}

/** 400 for a name, address or path that another link of the release has. */
export const createLink = (context: WriteContext, tag: string, input: NewLink): Promise<LinkRow> => {
  const link = linkOf(input);
  return onLinks(context, tag, async (tx, release) => {
    requirePlace(await countLinks(tx, release.id));
    const time = now();
    return tx
      .insertInto('release_links')
      .values({ release_id: release.id, ...link, created_at: time, updated_at: time })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
};

/** The row in the words of the rules: its type is one of them, by a check of the table. */
const fieldsOf = ({ name, url, filepath, link_type }: LinkRow): LinkFields => ({
  name,
  url,
  filepath,
  link_type: link_type as LinkFields['link_type'],
});

export const updateLink = (
  context: WriteContext,
  tag: string,
  id: number,
  changes: LinkChanges,
): Promise<LinkRow> =>
  onLinks(context, tag, async (tx, release) => {
    const link = linkOf(changes, fieldsOf(found(await selectLink(tx, release.id, id))));
    return tx
      .updateTable('release_links')
      .set({ ...link, updated_at: now() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });

export const deleteLink = (
  context: WriteContext,
  tag: string,
  id: number,
  unmodified: (updatedAt: Date) => void,
): Promise<LinkRow> =>
  onLinks(context, tag, async (tx, release) => {
    const link = found(await selectLink(tx, release.id, id));
    unmodified(link.updated_at);
    await ahead(tx).deleteFrom('release_links').where('id', '=', id).execute();
    return link;
  });
