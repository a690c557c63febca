/**
 * The language of templates: `{{ path }}`, `{% if path %} … {% else %} … {% end %}` and `{% each path %} … {% end %}`. A tag takes
 * the end of its line along, and so does a backslash there. Pure.
 */

export type Value =
  | string
  | number
  | boolean
  | readonly Value[]
  | { readonly [name: string]: Value | undefined };

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'print'; path: readonly string[] }
  | { kind: 'if'; path: readonly string[]; body: Node[]; otherwise: Node[] }
  | { kind: 'each'; path: readonly string[]; body: Node[] };

export type Template = readonly Node[];

/** What is wrong with a template, or with what it makes, as a sentence. */
export class TemplateProblem extends Error {}

const MAX_DEPTH = 20;
/** Tags that are carried out, and characters that are written. */
const MAX_STEPS = 300_000;
const MAX_LENGTH = 4_194_304;

const pathPattern = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

function pathOf(text: string): string[] {
  if (!pathPattern.test(text))
    throw new TemplateProblem(`${JSON.stringify(text.slice(0, 100))} is no variable`);
  return text.split('.');
}

/** A block that is open, and where what follows goes. */
type Open = { node: Extract<Node, { kind: 'if' | 'each' }>; inElse: boolean };

/** The nodes of a template; throws a TemplateProblem for one that is none. */
export function parseTemplate(text: string): Template {
  const root: Node[] = [];
  const open: Open[] = [];
  const place = (): Node[] => {
    const last = open.at(-1);
    if (!last) return root;
    return last.inElse && last.node.kind === 'if' ? last.node.otherwise : last.node.body;
  };
  const statement = (words: string): void => {
    const [verb = '', ...rest] = words.split(/\s+/);
    const argument = rest.join(' ');
    if (verb === 'if' || verb === 'each') {
      if (open.length >= MAX_DEPTH) throw new TemplateProblem(`Blocks are more than ${MAX_DEPTH} deep`);
      const path = pathOf(argument);
      const node: Open['node'] =
        verb === 'if' ? { kind: 'if', path, body: [], otherwise: [] } : { kind: 'each', path, body: [] };
      place().push(node);
      open.push({ node, inElse: false });
      return;
    }
    const last = open.at(-1);
    if (verb === 'else' && argument === '' && last?.node.kind === 'if' && !last.inElse) last.inElse = true;
    else if (verb === 'end' && argument === '' && last) open.pop();
    else throw new TemplateProblem(`{% ${words.slice(0, 100)} %} is not expected here`);
  };
  const source = text.replaceAll('\r\n', '\n');
  for (let at = 0; at < source.length; ) {
    const start = nextTag(source, at);
    if (start > at) place().push({ kind: 'text', text: source.slice(at, start).replaceAll('\\\n', '') });
    if (start === source.length) break;
    const isPrint = source.startsWith('{{', start);
    const end = source.indexOf(isPrint ? '}}' : '%}', start + 2);
    if (end === -1) throw new TemplateProblem(`${source.slice(start, start + 2)} is not closed`);
    const words = source.slice(start + 2, end).trim();
    if (isPrint) place().push({ kind: 'print', path: pathOf(words) });
    else statement(words);
    at = end + 2;
    if (source.startsWith('\\\n', at)) at += 2;
    else if (!isPrint && source[at] === '\n') at += 1;
  }
  if (open.length > 0) throw new TemplateProblem('A block is not closed by {% end %}');
  return root;
}

/** Where the next tag begins; the length of the text without one. */
function nextTag(source: string, from: number): number {
  const tag = /\{[{%]/g;
  tag.lastIndex = from;
  return tag.exec(source)?.index ?? source.length;
}

/** Own properties alone: texts have no length here. */
function lookUp(value: Value | undefined, path: readonly string[]): Value | undefined {
  let found = value;
  for (const [place, name] of path.entries()) {
    if (place === 0 && name === 'it') continue;
    if (
      typeof found !== 'object' ||
      !Object.hasOwn(found, name) ||
      (Array.isArray(found) && name === 'length')
    )
      return undefined;
    found = (found as Record<string, Value | undefined>)[name];
  }
  return found;
}

function isTrue(value: Value | undefined): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object') return Object.keys(value).length > 0;
  return typeof value === 'number' || (typeof value === 'string' ? value !== '' : value);
}

const itemsOf = (value: Value | undefined): readonly Value[] => {
  if (Array.isArray(value)) return value;
  return [];
};

/** What a template makes of the data; throws a TemplateProblem where that is too much. */
export function renderTemplate(template: Template, data: Value): string {
  const parts: string[] = [];
  let [steps, length] = [0, 0];
  const write = (text: string): void => {
    length += text.length;
    if (length > MAX_LENGTH) throw new TemplateProblem('The changelog is too long');
    parts.push(text);
  };
  const run = (nodes: readonly Node[], scope: Value): void => {
    for (const node of nodes) {
      steps += 1;
      if (steps > MAX_STEPS) throw new TemplateProblem('The template takes too many steps');
      if (node.kind === 'text') write(node.text);
      else {
        const value = lookUp(scope, node.path);
        if (node.kind === 'print') {
          if (value !== undefined && typeof value !== 'object') write(String(value));
        } else if (node.kind === 'if') run(isTrue(value) ? node.body : node.otherwise, scope);
        else for (const item of itemsOf(value)) run(node.body, item);
      }
    }
  };
  run(template, data);
  return parts.join('');
}
