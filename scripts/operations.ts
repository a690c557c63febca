/**
 * Counts the operations of the public API (architecture/operations.txt; facts: Endpoint inventory): each is
 * served here, or named with a reason under "Operations that stay out" in docs/divergences.md. Fails for one that
 * is neither, and for one that is both.
 */
import { readFileSync } from 'node:fs';
import { describedCapabilities } from '../src/commands/openapi.ts';

/** `:` is one segment, `*` the rest of a path. */
const shapeOf = (path: string): string =>
  path
    .replace(/\/-\/|\/\[-\/\]/g, '/')
    .replace(/:\w+(\([^)]*\))?/g, ':')
    .replace(/\*\w*.*$/, '*');

/** A path with optional parts, `(-/)`, as the paths with and without each. */
function variants(path: string): string[] {
  const optional = /\(([^()]+)\)/.exec(path);
  if (!optional) return [path.replace(/\/$/, '')];
  const [whole, part = ''] = optional;
  return [part, ''].flatMap((middle) => variants(path.replace(whole, middle)));
}

const served = describedCapabilities().flatMap(({ endpoints, routes = [] }) => [
  ...endpoints.map(({ method, path, takesRest }) => ({
    method,
    path: takesRest ? path.replace(/:\w+$/, '*') : path,
  })),
  ...routes.map(({ method, path }) => ({ method, path: path.replace(/^\/api\/v4/, '') })),
]);
/** HEAD is answered wherever GET is. */
const isServedShapes = new Set(
  served.flatMap(({ method, path }) =>
    (method === 'GET' ? ['GET', 'HEAD'] : [method]).map((each) => `${each} ${shapeOf(path)}`),
  ),
);

/** Types that have endpoints of their own, where the public API has a parameter. */
const templateTypes = [
  ...['dockerfiles', 'gitignores', 'gitlab_ci_ymls', 'licenses'],
  ...['issues', 'merge_requests'],
];

function isServed(operation: string): boolean {
  if (operation.includes('/templates/:type'))
    return templateTypes.every((type) => isServed(operation.replace(':type', type)));
  const [method = '', path = ''] = operation.split(' ');
  return variants(path).some((variant) => {
    const shape = shapeOf(variant);
    if (isServedShapes.has(`${method} ${shape}`)) return true;
    const before = shape.replace(/[:*].*$/, '');
    // A route that takes the rest of a path has what the public one divides further.
    return shape.includes('*') && [...isServedShapes].some(isWiderThan(method, shape, before));
  });
}

const isWiderThan = (method: string, shape: string, before: string) => (each: string) =>
  each.startsWith(`${method} ${before}`) &&
  each.endsWith('*') &&
  shape.startsWith(each.slice(method.length + 1, -1));

const section = /^## Operations that stay out\n([\s\S]*?)(?=^## |(?![\s\S]))/m;
const [, text = ''] = section.exec(readFileSync('docs/divergences.md', 'utf8')) ?? [];
const named = new Set([...text.matchAll(/`([A-Z]+ \/[^`]*)`/g)].map(([, operation = '']) => operation));

const operations = readFileSync('architecture/operations.txt', 'utf8').trim().split('\n');
const problems = [
  ...operations
    .filter((each) => !isServed(each) && !named.has(each))
    .map((each) => `neither served nor named: ${each}`),
  ...operations
    .filter((each) => isServed(each) && named.has(each))
    .map((each) => `served, and named: ${each}`),
  ...[...named].filter((each) => !operations.includes(each)).map((each) => `named, and not public: ${each}`),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
process.stdout.write(
  `${operations.filter(isServed).length} served + ${named.size} named = ${operations.length} public operations\n`,
);
