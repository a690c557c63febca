/** Markdown as its reader sees it: rendered, sanitised, and with a link for each thing it names that the reader may see. */
import { escapeText } from './rendered.ts';
import { renderSource } from './rendering.ts';
import { resolveReferences } from './resolve.ts';
import type { Scene } from './scene.ts';

/** The text as HTML that is safe to show. References to what is not there, or not for the reader, stay text. */
export async function renderMarkdown(text: string, options: { gfm: boolean }, scene: Scene): Promise<string> {
  const { services, project } = scene;
  const baseUrl = services.baseUrl();
  const uploads = project && `/-/project/${project.id}`;
  const { texts, fragments } = await renderSource(text, { ...options, baseUrl, uploads });
  const references = fragments.flatMap((fragment) => ('reference' in fragment ? fragment.reference : []));
  const links = await resolveReferences(scene, references);
  return texts
    .map((piece, index) => {
      const fragment = fragments[index];
      if (!fragment) return piece;
      if ('html' in fragment) return piece + fragment.html;
      return piece + (links.get(fragment.reference) ?? escapeText(fragment.reference.text));
    })
    .join('');
}
