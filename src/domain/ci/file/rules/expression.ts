/** The language of `rules:if`, `only:variables` and `spec:inputs:rules` (facts-ci: 2.6). Pure. */
import { PATTERN_TEXT, type RegexCompiler } from './regex.ts';

export type Literal = string | boolean | null;

/** What an expression reads; an input may be of any type. */
export type Names = {
  variable(name: string): string | undefined;
  input?(name: string): Literal | undefined;
};

export type Expression =
  | { kind: 'literal'; value: Literal }
  | { kind: 'pattern'; text: string; matches: (text: string) => boolean }
  | { kind: 'variable' | 'input'; name: string }
  | { kind: '!'; right: Expression }
  | { kind: Operator; left: Expression; right: Expression };

type Operator = '==' | '!=' | '=~' | '!~' | '&&' | '||';

const MAX_TOKENS = 100;

type Token = Expression | '(' | ')' | '!' | Operator;

const strengths: Record<Operator, number> = { '==': 3, '!=': 3, '=~': 3, '!~': 3, '&&': 2, '||': 1 };
const isOperator = (token: Token | undefined): token is Operator =>
  typeof token === 'string' && Object.hasOwn(strengths, token);

const lexemes =
  /\s*(?:(==|!=|=~|!~|&&|\|\||[()!])|\$\[\[\s*inputs\.([\w-]+)\s*\]\]|\$(\w+)|"([^"]*)"|'([^']*)'|(null|true|false)\b|(?=(\/)))/y;

/** Undefined for what is no expression. */
export function parseExpression(text: string, compile: RegexCompiler): Expression | undefined {
  const tokens = tokensOf(text, compile);
  if (!tokens) return undefined;
  let at = 0;

  const operand = (): Expression | undefined => {
    const token = tokens[at];
    at += 1;
    if (token === '!') {
      const right = operand();
      return right && { kind: '!', right };
    }
    if (token === '(') {
      const inner = operation(1);
      at += 1;
      return tokens[at - 1] === ')' ? inner : undefined;
    }
    return typeof token === 'object' ? token : undefined;
  };

  /** Of operators at least as strong; those of one strength group from the left. */
  const operation = (weakest: number): Expression | undefined => {
    let left = operand();
    for (let token = tokens[at]; left && isOperator(token); token = tokens[at]) {
      if (strengths[token] < weakest) break;
      at += 1;
      const right = operation(strengths[token] + 1);
      left = right && { kind: token, left, right };
    }
    return left;
  };

  const expression = operation(1);
  return at === tokens.length ? expression : undefined;
}

function tokensOf(text: string, compile: RegexCompiler): Token[] | undefined {
  const tokens: Token[] = [];
  const source = text.trimEnd();
  lexemes.lastIndex = 0;
  while (lexemes.lastIndex < source.length) {
    const start = lexemes.lastIndex;
    const found = lexemes.exec(source);
    if (!found || tokens.length === MAX_TOKENS) return undefined;
    const [whole, sign, input, variable, double, single, word] = found;
    if (sign !== undefined) tokens.push(sign as Token);
    else if (input !== undefined) tokens.push({ kind: 'input', name: input });
    else if (variable !== undefined) tokens.push({ kind: 'variable', name: variable });
    else if (word !== undefined)
      tokens.push({ kind: 'literal', value: word === 'null' ? null : word === 'true' });
    else if (double !== undefined || single !== undefined)
      tokens.push({ kind: 'literal', value: double ?? single ?? '' });
    else {
      const [pattern = ''] = PATTERN_TEXT.exec(source.slice(start + whole.length)) ?? [];
      const matches = compile(pattern);
      if (!matches) return undefined;
      tokens.push({ kind: 'pattern', text: pattern, matches });
      lexemes.lastIndex = start + whole.length + pattern.length;
    }
  }
  return tokens;
}

/** Blank texts count as nothing; "false" and "0" do not. */
const isPresent = (value: Literal): boolean =>
  value !== null && value !== false && (value === true || value.trim() !== '');

/** Whether the expression holds. */
export function holds(expression: Expression, names: Names, compile: RegexCompiler): boolean {
  const evaluate = (node: Expression): Literal => {
    switch (node.kind) {
      case 'literal':
        return node.value;
      case 'pattern':
        return node.text;
      case 'variable':
        return names.variable(node.name) ?? null;
      case 'input':
        return names.input?.(node.name) ?? null;
      case '!':
        return !isPresent(evaluate(node.right));
      case '&&':
      case '||': {
        // An empty text is a value here: only null and false are not.
        const left = evaluate(node.left);
        const isSet = left !== null && left !== false;
        return isSet === (node.kind === '&&') ? evaluate(node.right) : left;
      }
      case '==':
      case '!=':
        return same(evaluate(node.left), evaluate(node.right)) === (node.kind === '==');
      case '=~':
      case '!~':
        return matches(node.left, node.right) === (node.kind === '=~');
    }
  };

  const matches = (left: Expression, right: Expression): boolean => {
    const text = String(evaluate(left) ?? '');
    if (right.kind === 'pattern') return right.matches(text);
    const value = evaluate(right);
    if (value === null) return false;
    const pattern = compile(String(value));
    // A text that is no pattern is itself searched for the left side.
    return pattern ? pattern(text) : String(value).includes(text);
  };

  return isPresent(evaluate(expression));
}

function same(left: Literal, right: Literal): boolean {
  if (left === null || right === null) return left === right;
  return String(left) === String(right);
}
