/** Pages as records. */

import { splitFrontMatter } from './front-matter.ts';
import type { WikiPage } from './schema.ts';
import { type PageName, presentPageBasic } from './wiki-pages.ts';

/** The page with its text, as UTF-8 whatever the file's encoding is. */
export function presentPage(page: PageName, id: number, text: string): WikiPage {
  const { frontMatter, content } = splitFrontMatter(text);
  return { ...presentPageBasic(page, id), content, encoding: 'UTF-8', front_matter: frontMatter };
}
