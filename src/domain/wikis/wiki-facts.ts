/** The fact that a page of a wiki is another than before. */
import type { Fact } from '../../platform/outbox/outbox.ts';
import type { PageName, WikiOwner } from './wiki-pages.ts';

export type WikiAction = 'created' | 'updated' | 'destroyed';

export type WikiChange = {
  action: WikiAction;
  page: PageName;
  /** The commit. */
  oid: string;
};

export const wikiFact = (
  { owner, id }: WikiOwner,
  author: { id: number } | undefined,
  { action, page, oid }: WikiChange,
): Fact => ({
  name: 'wiki_page_changed',
  payload: {
    ...(owner === 'project_id' ? { project_id: id } : { namespace_id: id }),
    user_id: author?.id ?? null,
    action,
    page,
    version_id: oid,
  },
});
