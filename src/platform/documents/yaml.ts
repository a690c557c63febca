/** What each reader of YAML from strangers needs: documents of bounded depth, and lines of offsets. Pure. */
import {
  Composer,
  type Document,
  type DocumentOptions,
  Lexer,
  LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
} from 'yaml';

export type Position = { line: number; column: number };

/** Lines and columns count from 1. */
export function positions(text: string): (offset: number) => Position {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  return (offset) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}

/**
 * The documents of a text, in steps of a word or a sign each, between which others may have their turn; most are empty. Nodes are
 * composed by recursion, which a text of brackets alone would carry too far: `tooDeep` makes what is thrown at an offset.
 */
export function* composeInSteps(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions,
  { depth, tooDeep }: { depth: number; tooDeep(offset: number): Error },
): Generator<Document.Parsed[]> {
  const parser = new Parser();
  const composer = new Composer({
    ...options,
    // The check of keys compares each with each.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  for (const lexeme of new Lexer().lex(text)) {
    const documents: Document.Parsed[] = [];
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    // The document is one level.
    if (parser.stack.length > depth + 1) throw tooDeep(parser.offset);
    yield documents;
  }
  const last: Document.Parsed[] = [];
  for (const token of parser.end()) last.push(...composer.next(token));
  yield [...last, ...composer.end()];
}
