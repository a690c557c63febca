/** Rules for paths of users, groups and projects, which share addresses with the program's own. */

/** First segments of addresses that the program serves, or that browsers and crawlers request. */
const topLevelWords = new Set([
  '-',
  '.well-known',
  '404.html',
  '422.html',
  '500.html',
  '502.html',
  '503.html',
  'admin',
  'api',
  'apple-touch-icon.png',
  'assets',
  'dashboard',
  'deploy.html',
  'explore',
  'favicon.ico',
  'favicon.png',
  'files',
  'groups',
  'health_check',
  'help',
  'import',
  'jwt',
  'login',
  'oauth',
  'profile',
  'projects',
  'public',
  'robots.txt',
  's',
  'search',
  'sitemap',
  'sitemap.xml',
  'sitemap.xml.gz',
  'slash-command-logo.png',
  'snippets',
  'unsubscribes',
  'uploads',
  'users',
  'v2',
]);

/** Segments that follow the path of a group or project in addresses, and so cannot be a path in it. */
const nestedWords = new Set([
  '-',
  'badges',
  'blame',
  'blob',
  'builds',
  'commits',
  'create',
  'create_dir',
  'edit',
  'files',
  'find_file',
  'new',
  'preview',
  'raw',
  'refs',
  'tree',
  'update',
  'wikis',
]);

const MAX_PATH_LENGTH = 255;

const FORMAT = /^[a-z0-9_.](?:[a-z0-9_.-]*[a-z0-9_-])?$/i;
const WRONG_END = /\.(git|atom)$/i;
/** The pattern in a schema. */
export const pathPattern = '^[A-Za-z0-9_.](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$';
const FORMAT_MESSAGE =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.";

/** The level of a path's last part: of users and top-level groups, or inside a namespace. */
export type PathLevel = 'top_level' | 'nested';

/** The problems of one part of a path, as messages of its property; whether it is free is not checked. */
export function pathProblems(path: string, place: PathLevel): string[] {
  if (path === '') return ["can't be blank"];
  const problems: string[] = [];
  if (path.length > MAX_PATH_LENGTH) {
    problems.push(`is too long (maximum is ${MAX_PATH_LENGTH} characters)`);
  }
  if (!FORMAT.test(path) || WRONG_END.test(path)) problems.push(FORMAT_MESSAGE);
  const reserved = place === 'top_level' ? topLevelWords : nestedWords;
  if (reserved.has(path.toLowerCase())) problems.push(`${path} is a reserved name`);
  return problems;
}
