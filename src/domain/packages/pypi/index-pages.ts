/** Indexes of Python packages, as pages and as JSON (PEP 503, 691). Pure. */
import { type Html, html } from '../../../platform/http/pages/html.ts';
import type { IndexedFile } from './queries.ts';

const JSON_TYPE = 'application/vnd.pypi.simple.v1+json';
const meta = { 'api-version': '1.0' };

export const indexTypes = ['text/html', JSON_TYPE] as const;

export type Document = { type: (typeof indexTypes)[number]; text: string };

/** Whether the client takes JSON: only those who name it. */
const takesJson = (accept: string | undefined): boolean => accept?.includes(JSON_TYPE) === true;

const page = (title: string, links: readonly Html[]): string =>
  `<!DOCTYPE html>\n${
    html`<html>
<head>
<title>${title}</title>
</head>
<body>
<h1>${title}</h1>
${links.map((link) => html`${link}<br>\n`)}</body>
</html>
`.text
  }`;

export function namesDocument(base: string, names: readonly string[], accept: string | undefined): Document {
  if (takesJson(accept))
    return { type: JSON_TYPE, text: JSON.stringify({ meta, projects: names.map((name) => ({ name })) }) };
  const links = names.map((name) => html`<a href="${`${base}/${name}/`}">${name}</a>`);
  return { type: 'text/html', text: page('Links', links) };
}

/** `addressOf` gives where a file is. */
export function filesDocument(
  name: string,
  files: readonly IndexedFile[],
  addressOf: (file: IndexedFile) => string,
  accept: string | undefined,
): Document {
  if (takesJson(accept)) {
    const listed = files.map((file) => ({
      filename: file.file_name,
      url: addressOf(file),
      hashes: { sha256: file.sha256.toString('hex') },
      size: file.size,
      ...(file.requires_python !== null && { 'requires-python': file.requires_python }),
    }));
    return { type: JSON_TYPE, text: JSON.stringify({ meta, name, files: listed }) };
  }
  const links = files.map((file) => {
    const address = `${addressOf(file)}#sha256=${file.sha256.toString('hex')}`;
    return html`<a href="${address}" data-requires-python="${file.requires_python ?? ''}">${file.file_name}</a>`;
  });
  return { type: 'text/html', text: page(`Links for ${name}`, links) };
}
