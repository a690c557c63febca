/** Kinds of routes: what a route serves, and what the server does alike for all of its kind. */

export type RouteKind =
  /** Records, for programs. */
  | 'api'
  /** Pages for people, and their forms. */
  | 'page'
  /** Files that pages and records name. */
  | 'file'
  /** Programs speak a protocol that has refusals of its own. */
  | 'protocol'
  | 'git'
  /** Images and other artifacts, for programs that fetch and push them. */
  | 'registry'
  /** Programs bring what is to be kept. */
  | 'ingest'
  /** The same for everybody, and made of nothing that is scarce. */
  | 'static'
  /** How the program is: never shed. */
  | 'probe';

/** What the server does alike for all routes of a kind. */
type Manner = {
  /** Bytes of a body, where the route does not say otherwise. */
  bodyLimit: number;
  /** Browsers read failures as pages. */
  pages: boolean;
};

const MEBIBYTE = 1_048_576;
const FORM_BYTES = 65_536;

export const manners: Record<RouteKind, Manner> = {
  api: { bodyLimit: MEBIBYTE, pages: false },
  page: { bodyLimit: FORM_BYTES, pages: true },
  file: { bodyLimit: 0, pages: true },
  protocol: { bodyLimit: FORM_BYTES, pages: true },
  git: { bodyLimit: Number.POSITIVE_INFINITY, pages: true },
  registry: { bodyLimit: Number.POSITIVE_INFINITY, pages: false },
  ingest: { bodyLimit: Number.POSITIVE_INFINITY, pages: false },
  static: { bodyLimit: 0, pages: false },
  probe: { bodyLimit: 0, pages: true },
};
