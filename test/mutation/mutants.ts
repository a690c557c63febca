/**
 * The lines that authorise, each made wrong in the ways that matter. All mutants of a file are in one text,
 * and sleep until one of them is switched on while the program runs.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseAst } from 'rolldown/parseAst';
import { groupPolicy, projectPolicy, type Rule } from '../../src/kernel/policy/policy.ts';

export type Mutant = { id: string; file: string; line: number; change: string; text: string };

type Node = { type: string; start: number; end: number } & Record<string, unknown>;
type Wrap = { start: number; end: number; before: string; after: string };

/** Files that only decide: there every condition counts. */
const deciding =
  /^src\/kernel\/(access|policy)\/|^src\/kernel\/identity\/authenticate\.ts$|^src\/domain\/snippets\/snippet-policy\.ts$|^src\/domain\/repositories\/http\/(resolve-repository|credentials)\.ts$|^src\/domain\/(snippets\/registrations|wikis)\/repository-kind\.ts$/;

/** Functions that decide whether a caller may. */
const asks =
  /^(may|mayForce|mayPush|mayMerge|mayReach|mayPromote|mayComment|mayCreate\w+|mayReadMetrics|sees[A-Z]\w*|isVisible|isOpen|roleMay\w+)$/;
/** Functions that only refuse. */
const guards =
  /^(require(Actor|Scope|Management|Reader|Resolver|Client|Deletion|Editable|OtherAdministrator)|refuse(Strangers|Others|Guarded|Guests|Private|Inactive|Protected|Unprotect|Dynamic|Hidden)?|authorize[A-Z]\w*)$/;
const refusing = /\b(forbidden|unauthenticated|wrong)\(|new Failure\(\s*'(forbidden|unauthenticated)'/;
const standing = /\.(admin|auditor|external|role|author_id|archived)\b|\bisAuthor\b|\bauthor\b/;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function children(node: Node): Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

/** The last name of the callee: `may` of `project.may(…)`. */
function calledName(node: Node): string {
  const callee = node.callee as Node;
  if (callee.type === 'Identifier') return callee.name as string;
  return callee.type === 'MemberExpression' ? (((callee.property as Node).name as string) ?? '') : '';
}

const unwrapped = (node: Node): Node => (node.type === 'AwaitExpression' ? (node.argument as Node) : node);

/** Levels in order, for rows of the policy. */
const levels = ['GUEST', 'PLANNER', 'REPORTER', 'DEVELOPER', 'MAINTAINER', 'OWNER'];

/** A lower requirement; none where the table has the same for both, so that they cannot be told apart. */
function lessThan(ofProject: boolean, verb: string): string | undefined {
  const [policy, least]: [Record<string, Rule>, string] = ofProject
    ? [projectPolicy, 'read_project']
    : [groupPolicy, 'read_group'];
  const requested = policy[verb.slice(1, -1)];
  return requested && isDeepStrictEqual(requested, policy[least]) ? undefined : `'${least}'`;
}

/** The file's mutants, and the text that has all of them. */
export function mutate(file: string, source: string): { mutants: Mutant[]; text: string } {
  const mutants: Mutant[] = [];
  const wraps: Wrap[] = [];
  const decides = deciding.test(file);
  const inPolicy = file.endsWith('kernel/policy/policy.ts');
  const textOf = (node: Node): string => source.slice(node.start, node.end);
  /** Registers a mutant; the name by which it is switched on. */
  function add(node: Node, change: string): string {
    const line = source.slice(0, node.start).split('\n').length;
    const column = node.start - source.lastIndexOf('\n', node.start - 1);
    const id = `${file}:${line}:${column}+${node.end - node.start} ${change}`;
    const text = textOf(node).replaceAll(/\s+/g, ' ').slice(0, 100);
    mutants.push({ id, file, line, change, text });
    return JSON.stringify(id);
  }
  const wrap = ({ start, end }: Node, before: string, after: string) =>
    wraps.push({ start, end, before, after });
  const response = (node: Node) => {
    wrap(node, `__always(${add(node, 'always')}, `, ')');
    wrap(node, `__never(${add(node, 'never')}, `, ')');
  };
  const negated = new Set<string>();
  /** Once: negating twice changes nothing. */
  const negate = (node: Node) => {
    const range = `${node.start} ${node.end}`;
    if (!negated.has(range)) wrap(node, `__negated(${add(node, 'negated')}, `, ')');
    negated.add(range);
  };

  function visit(node: Node, parent: Node | undefined): void {
    if (node.type.startsWith('TS') && !/Expression$/.test(node.type)) return;
    if (node.type === 'IfStatement') guard(node);
    if (node.type === 'ExpressionStatement') statement(node);
    if (node.type === 'CallExpression') call(node);
    if (decides && node.type === 'LogicalExpression') operands(node);
    if (decides && node.type === 'ConditionalExpression') negate(node.test as Node);
    if (
      decides &&
      node.type === 'BinaryExpression' &&
      ['>=', '>', '<=', '<', '===', '!=='].includes(node.operator as string)
    )
      negate(node);
    if (inPolicy && node.type === 'Property' && parent?.type === 'ObjectExpression') row(node, parent);
    if (node.type === 'Property' && (node.key as Node).name === 'access') bareAccess(node.value as Node);
    for (const child of children(node)) visit(child, node);
  }

  function guard(node: Node): void {
    const test = node.test as Node;
    const consequent = textOf(node.consequent as Node);
    const about = asksIn(test) || standing.test(textOf(test));
    if (!decides && !refusing.test(consequent) && !(about && /throw|refuse/.test(consequent))) return;
    // An empty list has an empty result, with the shortcut or without.
    const isShortcut = /\.length === 0$/.test(textOf(test)) && /^\{?\s*return\b/.test(consequent);
    if (!isShortcut) wrap(test, `__never(${add(test, 'guard removed')}, `, ')');
    negate(test);
  }

  const asksIn = (node: Node): boolean =>
    (node.type === 'CallExpression' && asks.test(calledName(node))) || children(node).some(asksIn);

  function statement(node: Node): void {
    const expression = unwrapped(node.expression as Node);
    if (expression.type !== 'CallExpression' || !guards.test(calledName(expression))) return;
    // It is run all the same, to learn where it would have refused.
    wrap(
      node,
      'try { ',
      ` } catch (error) { if (!__mutant(${add(node, 'statement removed')})) throw error; }`,
    );
  }

  function call(node: Node): void {
    const name = calledName(node);
    const given = node.arguments as Node[];
    if (asks.test(name)) response(node);
    if (name === 'onProject' || name === 'onGroup') {
      const [verb] = given;
      const least = verb && lessThan(name === 'onProject', textOf(verb));
      if (least) {
        const rest = textOf(node).replace(textOf(verb), least);
        wrap(node, `__access(${add(node, `asks for ${least} alone`)}, `, `, ${rest})`);
      }
    }
    if (/^on(Project|Group|UserAsAdmin|OwnUser)$/.test(name))
      wrap(node, `__opened(${add(node, 'opened to all')}, `, ')');
    if (name === 'authorizeProject' || name === 'authorizeGroup') {
      const [, caller, verb] = given;
      if (caller) wrap(caller, `__admin(${add(node, 'asked as an administrator')}, `, ')');
      const least = verb && lessThan(name === 'authorizeProject', textOf(verb));
      if (least) {
        const rest = textOf(node).replace(textOf(verb), least);
        wrap(node, `__instead(${add(node, `asks for ${least} alone`)}, `, `, () => ${rest})`);
      }
    }
    if (name === 'authorizeInstance') {
      const [caller] = given;
      if (caller) wrap(caller, `__admin(${add(node, 'asked as an administrator')}, `, ')');
    }
  }

  function operands(node: Node): void {
    if (node.operator === '??') return;
    const dropped = node.operator === '&&' ? '__always' : '__never';
    for (const side of [node.left as Node, node.right as Node]) {
      if (side.type === 'LogicalExpression' && side.operator === node.operator) continue;
      wrap(side, `${dropped}(${add(side, 'operand dropped')}, `, ')');
    }
  }

  function bareAccess(value: Node): void {
    if (value.type !== 'Identifier') return;
    if (value.name === 'signedIn')
      wrap(
        value,
        `__access(${add(value, 'opened to all')}, `,
        ', { find: async ({ caller }) => ({ actor: caller }) })',
      );
    if (['onInstance', 'onOwnSnippet', 'onSnippet'].includes(value.name as string))
      wrap(value, `__opened(${add(value, 'opened to all')}, `, ')');
  }

  /** Part of a row of the policy: it is read each time, so that it can be another. */
  function row(node: Node, rule: Node): void {
    const [key, value] = [node.key as Node, node.value as Node];
    const name = key.name as string;
    // Where visibility is enough no role is required.
    if (name === 'least' && /\bvisible:/.test(textOf(rule))) return;
    if (!['least', 'visible', 'open', 'feature', 'whileArchived', 'notFromInside', 'auditor'].includes(name))
      return;
    const given = textOf(value);
    const other =
      name === 'least' ? (given === 'GUEST' ? 'PLANNER' : levels[levels.indexOf(given) - 1]) : 'undefined';
    if (other === undefined) return;
    const id = add(node, name === 'least' ? `least is ${other}` : 'dropped');
    wraps.push({
      start: node.start,
      end: value.start,
      before: `get ${name}() { return __mutant(${id}) ? ${other} : `,
      after: '',
    });
    wraps.push({ start: value.end, end: value.end, before: '', after: '; }' });
    removed.push([node.start, value.start]);
  }
  const removed: [from: number, to: number][] = [];

  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, undefined);
  return { mutants, text: written(source, wraps, removed) };
}

/** The source with text put around parts of it, outer parts first. */
function written(
  source: string,
  wraps: readonly Wrap[],
  removed: readonly [from: number, to: number][],
): string {
  const put = wraps.flatMap((wrap, index) => [
    { at: wrap.start, text: wrap.before, opens: 1, other: wrap.end, index },
    { at: wrap.end, text: wrap.after, opens: 0, other: wrap.start, index },
  ]);
  put.sort(
    (a, b) =>
      a.at - b.at ||
      a.opens - b.opens ||
      b.other - a.other ||
      (a.opens === 1 ? a.index - b.index : b.index - a.index),
  );
  const taken = (position: number): boolean =>
    removed.some(([from, to]) => position >= from && position < to);
  let text = '';
  let position = 0;
  for (const { at, text: more } of put) {
    text += taken(position) ? '' : source.slice(position, at);
    text += more;
    position = at;
  }
  return text + source.slice(position);
}
