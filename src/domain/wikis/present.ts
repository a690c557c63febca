/** Pages as records. */
import { splitFrontMatter } from './front-matter.ts';
import type { PageName } from './rules.ts';
import type { WikiPage } from './schema.ts';

/** What a list shows of a page, and an activity event. */
export const presentBasic = ({ format, slug, title }: PageName, id: number) => ({
  format,
  slug,
  title,
  wiki_page_meta_id: id,
});

/** The page with its text, which is UTF-8 whatever the file was. */
export function presentPage(page: PageName, id: number, text: string): WikiPage {
  const { frontMatter, content } = splitFrontMatter(text);
  return { ...presentBasic(page, id), content, encoding: 'UTF-8', front_matter: frontMatter };
}
