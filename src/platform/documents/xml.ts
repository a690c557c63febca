/**
 * Reads XML: one document after the other, as runners pack several reports. No entity that a document declares is
 * expanded, one that is not well-formed is refused, and none takes more memory than a few times its size.
 */
import { SaxesParser } from 'saxes';
import { takeTurns } from '../turns.ts';

/** A document that is none: the message says where. */
export class DocumentError extends Error {}

/** What is told of a document; `text` has what is in the element, CDATA too, in pieces. */
export type DocumentReader = {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close(name: string): void;
};

/** Longer paths are nobody's. */
const MAX_PATH = 64;

/** A reader that is told of elements by their paths, such as `/metadata/groupId`, and of the text behind their last child. */
export function pathReader({
  open,
  value,
}: {
  open?(path: string, attributes: Readonly<Record<string, string>>): void;
  value(path: string, text: string): void;
}): DocumentReader {
  const opened: (string | undefined)[] = [''];
  let text = '';
  return {
    open(name, attributes) {
      const parent = opened.at(-1);
      const path =
        parent === undefined || parent.length + name.length > MAX_PATH ? undefined : `${parent}/${name}`;
      opened.push(path);
      text = '';
      if (path !== undefined) open?.(path, attributes);
    },
    text(piece) {
      text += piece;
    },
    close() {
      const path = opened.pop();
      if (path !== undefined) value(path, text.trim());
      text = '';
    },
  };
}

/** Characters that are parsed in one go. */
const PIECE_LENGTH = 65_536;
/** What is open, and the attributes of an element, take a hundred times what they have in the file. */
const MAX_DEPTH = 1_000;
const MAX_ATTRIBUTES = 1_000;
const MAX_DOCUMENTS = 10_000;

/** A parser of the document that begins there; `end` is set when its root is closed, and it throws where another one follows. */
function openDocument(reader: DocumentReader): { parser: SaxesParser; end(): number | undefined } {
  const parser = new SaxesParser();
  let depth = 0;
  let attributes = 0;
  let end: number | undefined;
  parser.on('error', (error) => {
    // The root was closed by another name.
    if (parser.position === end) end = undefined;
    throw new DocumentError(error.message);
  });
  parser.on('doctype', (text) => {
    if (/<!ENTITY/i.test(text)) throw new DocumentError('entities are not allowed');
  });
  parser.on('opentagstart', () => {
    if (end !== undefined) throw new DocumentError('another document follows');
    attributes = 0;
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES)
      throw new DocumentError(`an element has more than ${MAX_ATTRIBUTES} attributes`);
  });
  parser.on('opentag', (tag) => {
    depth += 1;
    if (depth > MAX_DEPTH) throw new DocumentError(`elements are more than ${MAX_DEPTH} deep`);
    reader.open(tag.name, tag.attributes);
  });
  const take = (text: string): void => {
    if (end === undefined) reader.text?.(text);
  };
  parser.on('text', take);
  parser.on('cdata', take);
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    reader.close(name);
    if (depth === 0) end = parser.position;
  });
  return { parser, end: () => end };
}

/** Reads each document by a new reader. Throws DocumentError. */
export async function readDocuments(text: string, makeReader: () => DocumentReader): Promise<void> {
  const turn = takeTurns();
  let at = 0;
  for (let documents = 0; at < text.length; documents++) {
    // A declaration stands at the very beginning.
    at += /^[\s\uFEFF]*/.exec(text.slice(at, at + PIECE_LENGTH))?.[0].length ?? 0;
    if (at >= text.length) return;
    if (documents >= MAX_DOCUMENTS) throw new DocumentError(`there are more than ${MAX_DOCUMENTS} documents`);
    const { parser, end } = openDocument(makeReader());
    for (let from = at; from < text.length && end() === undefined; from += PIECE_LENGTH) {
      try {
        parser.write(text.slice(from, from + PIECE_LENGTH));
      } catch (error) {
        if (end() === undefined) throw error;
      }
      await turn();
    }
    const length = end();
    if (length === undefined) {
      parser.close();
      throw new DocumentError('the document has no end');
    }
    at += length;
  }
}
