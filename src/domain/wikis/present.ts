/** Pages as records. */
import { type PageName, presentPageBasic } from '../../core/repositories/wiki-pages.ts';
import { splitFrontMatter } from './front-matter.ts';
import type { WikiPage } from './schema.ts';

/** The page with its text, as UTF-8 whatever the file's encoding is. */
export function presentPage(page: PageName, id: number, text: string): WikiPage {
  const { frontMatter, content } = splitFrontMatter(text);
  return { ...presentPageBasic(page, id), content, encoding: 'UTF-8', front_matter: frontMatter };
}
