/**
 * The statements of a migration. A file whose first line is `-- outside a transaction` runs statement by statement, each by
 * itself: for what takes long on a large table. When it is cut off it runs anew from its first statement, so each is of a
 * kind that may be repeated.
 */

/** One of a file outside a transaction. */
export type Step =
  /** Built beside writers; one that is there and invalid was cut off, and is dropped first. */
  | { kind: 'index'; index: string; text: string }
  /** A constraint that is there already is not added again. */
  | { kind: 'constraint'; table: string; constraint: string; text: string }
  /** Repeated until it changes no row. */
  | { kind: 'batches'; text: string }
  | { kind: 'plain'; text: string };

const OUTSIDE = /^-- outside a transaction *\n/;

export const isOutside = (text: string): boolean => OUTSIDE.test(text);

/** A comment, a string, a quoted name or a body between dollars: a semicolon in it ends nothing. */
const TOKEN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[\s\S]/g;

/** Without their semicolons; comments before a statement belong to it. */
export function statementsOf(text: string): string[] {
  const statements: string[] = [];
  let statement = '';
  let isEmpty = true;
  const end = () => {
    if (!isEmpty) statements.push(statement.trim());
    statement = '';
    isEmpty = true;
  };
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ';') {
      end();
      continue;
    }
    statement += token;
    if (!/^(--|\/\*|\s)/.test(token)) isEmpty = false;
  }
  end();
  return statements;
}

const INDEX = /^create (?:unique )?index concurrently (\w+) on /i;
const CONSTRAINT = /^alter table (\w+) add constraint (\w+) [\s\S]* not valid$/i;
const BATCHES = /^(?:update|delete|insert)\b[\s\S]*\blimit \d+/i;
/** What does nothing the second time. */
const REPEATABLE =
  /^(?:alter table \w+ (?:validate constraint \w+|add column if not exists [^,]+|drop (?:column|constraint) if exists \w+|alter (?:column )?\w+ (?:set|drop) (?:not null|default\b[^,]*))|drop (?:index concurrently|table|index) if exists \w+|analyze \w+)$/i;

/** The steps of a file outside a transaction; throws where one cannot be repeated. */
export function stepsOf(name: string, text: string): Step[] {
  return statementsOf(text).map((statement) => {
    const bare = statement.replace(/--[^\n]*\n/g, '').trim();
    const [, index] = INDEX.exec(bare) ?? [];
    if (index !== undefined) return { kind: 'index', index, text: bare };
    const [, table, constraint] = CONSTRAINT.exec(bare) ?? [];
    if (table !== undefined && constraint !== undefined)
      return { kind: 'constraint', table, constraint, text: bare };
    if (BATCHES.test(bare)) return { kind: 'batches', text: bare };
    if (REPEATABLE.test(bare)) return { kind: 'plain', text: bare };
    throw new Error(
      `migration ${name} runs outside a transaction, where each statement must be one that may be repeated; this one is not: ${bare.slice(0, 200)}`,
    );
  });
}
