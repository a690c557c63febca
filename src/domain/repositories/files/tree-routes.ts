/** The list of a folder's entries (facts: Repository; spec: Supported keyset resources). */
import Type, { type Static } from 'typebox';
import { onProject } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint, found, Reply } from '../../../kernel/api/endpoint.ts';
import { Failure } from '../../../platform/failure.ts';
import type { GitFolder } from '../../../platform/git/objects.ts';
import { countFiles, entryType, type PathEntry } from '../../../platform/git/trees.ts';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { offsetPage } from '../../../platform/pagination/page.ts';
import {
  choosePagination,
  offsetHeaders,
  pageFields,
  type RequestAddress,
  tokenLink,
} from '../../../platform/pagination/pagination.ts';
import { readRepository } from '../commits/queries.ts';
import {
  entriesAfter,
  entriesFrom,
  findFolder,
  type Listing,
  pathComponents,
  readLevel,
} from './tree-queries.ts';
import { tokenOf } from './tree-rules.ts';

const TreeRecord = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  path: Type.String(),
  mode: Type.String(),
});

const presentEntry = (entry: PathEntry): Static<typeof TreeRecord> => ({
  id: entry.oid,
  name: entry.name,
  type: entryType(entry),
  path: entry.path,
  mode: entry.mode.padStart(6, '0'),
});

const TreeInput = Type.Object({
  ...pageFields,
  ref: Type.Optional(Type.String({ description: 'Branch, tag or commit; the default branch unless given.' })),
  path: Type.Optional(Type.String({ description: 'The folder.' })),
  recursive: Type.Optional(Type.Boolean({ description: 'Also what is in folders of the folder.' })),
  pagination: Type.Optional(stringEnum(['legacy', 'keyset', 'none'])),
  page_token: Type.Optional(
    Type.String({ description: 'Where a keyset page starts, from the `Link` header.' }),
  ),
});

type TreePage = { entries: PathEntry[]; headers: Record<string, string> };
type TreeRequest = Static<typeof TreeInput>;

/** Entries sent at once to a client that wants no pages, at most. */
const MAX_AT_ONCE = 50_000;

async function wholeTree(git: GitFolder, listing: Listing): Promise<TreePage> {
  const inPages = () => new Failure('unprocessable', `More than ${MAX_AT_ONCE} entries come in pages only.`);
  // Counted before they are read, as far as that is quick.
  if (listing.recursive && (await countFiles(git, listing.tree)) > MAX_AT_ONCE) throw inPages();
  const entries = await entriesFrom(git, listing, 0, MAX_AT_ONCE + 1);
  if (entries.length > MAX_AT_ONCE) throw inPages();
  return { entries, headers: {} };
}

/** Only an empty page is the end, as in all keyset lists (spec: Pagination). */
async function keysetPage(
  git: GitFolder,
  listing: Listing,
  requested: TreeRequest,
  address: RequestAddress,
): Promise<TreePage> {
  const { perPage } = choosePagination(undefined, { per_page: requested.per_page }, true, 0);
  const entries = await entriesAfter(git, listing, requested.page_token, perPage);
  const last = entries.at(-1);
  if (!last) return { entries, headers: {} };
  const token = tokenOf(last.path.split('/').slice(listing.path.length));
  return { entries, headers: { link: tokenLink(address, perPage, token) } };
}

async function offsetTreePage(
  git: GitFolder,
  listing: Listing,
  requested: TreeRequest,
  address: RequestAddress,
  config: { paginationCountLimit: number; offering: string },
): Promise<TreePage> {
  const { page = 1 } = requested;
  const { perPage } = choosePagination(undefined, { per_page: requested.per_page }, true, 0);
  const offset = (page - 1) * perPage;
  const countLimit = config.paginationCountLimit;
  const rows = await entriesFrom(git, listing, offset, perPage + 1);
  const { items, total, more } = await offsetPage(
    { kind: 'offset', page, perPage, offset, countLimit },
    rows,
    () => count(git, listing, countLimit),
  );
  const omitTotals = config.offering === 'hosted';
  return {
    entries: items,
    headers: offsetHeaders({ address, page, perPage, total, hasNext: more, omitTotals }),
  };
}

const count = async (git: GitFolder, listing: Listing, limit: number): Promise<number> =>
  listing.recursive
    ? (await entriesFrom(git, listing, 0, limit + 1)).length
    : (await readLevel(git, listing.tree)).length;

export const treeEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/tree',
    summary: 'Files and folders of a repository.',
    access: onProject('read_code'),
    also: [422],
    input: TreeInput,
    reply: Type.Array(TreeRecord),
    handle: async ({ services, subject: project, input, request }) => {
      const address = { origin: request.origin, path: request.path, query: request.query };
      const page = await readRepository(services, project, async (git) => {
        const path = pathComponents(input.path ?? '');
        const tree = await findFolder(git, input.ref || 'HEAD', path);
        const listing = { tree, path, recursive: input.recursive ?? false };
        if (input.pagination === 'none') return wholeTree(git, listing);
        if (input.pagination === 'keyset' || input.page_token !== undefined)
          return keysetPage(git, listing, input, address);
        return offsetTreePage(git, listing, input, address, services.config);
      });
      const { entries, headers } = found(page, 'Tree');
      return new Reply(200, entries.map(presentEntry), headers);
    },
  }),
];
