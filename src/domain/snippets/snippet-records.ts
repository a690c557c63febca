/** Snippet records, in lists and in storage moves (facts: Resource entities, Snippet). */
import Type, { type Static } from 'typebox';
import { visibilityName, visibilityNames } from '../../kernel/policy/roles.ts';
import { presentUserBasic, type Surroundings, UserBasic } from '../../kernel/users/records.ts';
import type { Db } from '../../platform/db/database.ts';
import { dateTime, deprecated, nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { projectPathsOf, type SnippetRow, snippetRelations } from './queries.ts';

const what = {
  id: Type.Integer(),
  title: Type.String(),
  description: nullable(Type.String()),
  visibility: stringEnum(visibilityNames),
};
const whenAndWhere = {
  created_at: dateTime(),
  updated_at: dateTime(),
  project_id: nullable(Type.Integer()),
  web_url: Type.String(),
  raw_url: Type.String(),
  http_url_to_repo: Type.String(),
};

/** The fields that other records show of a snippet. */
export const BasicSnippetRecord = Type.Object({ ...what, ...whenAndWhere });
export type BasicSnippetRecord = Static<typeof BasicSnippetRecord>;

export const SnippetRecord = Type.Object({
  ...what,
  author: UserBasic,
  ...whenAndWhere,
  file_name: deprecated(Type.String(), 'files'),
  files: Type.Array(Type.Object({ path: Type.String(), raw_url: Type.String() })),
  imported: Type.Boolean(),
  imported_from: Type.String(),
  repository_storage: Type.Optional(Type.String({ description: 'For administrators.' })),
});
export type SnippetRecord = Static<typeof SnippetRecord>;

function presentBasic(baseUrl: string, row: SnippetRow, paths: Map<number, string>): BasicSnippetRecord {
  const home = row.project_id === null ? baseUrl : `${baseUrl}/${paths.get(row.project_id) ?? ''}`;
  const webUrl = `${home}/-/snippets/${row.id}`;
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    visibility: visibilityName(row.visibility),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    project_id: row.project_id,
    web_url: webUrl,
    raw_url: `${webUrl}/raw`,
    http_url_to_repo: `${home}/snippets/${row.id}.git`,
  };
}

/** The basic records of the snippets, in the order of the rows. */
export async function presentBasicSnippets(
  db: Db,
  baseUrl: string,
  rows: readonly SnippetRow[],
): Promise<BasicSnippetRecord[]> {
  const paths = await projectPathsOf(db, rows);
  return rows.map((row) => presentBasic(baseUrl, row, paths));
}

const inUrl = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** The records, in the order of the rows; administrators see the storage. */
export async function presentSnippets(
  db: Db,
  around: Surroundings,
  reader: { admin: boolean } | undefined,
  rows: readonly SnippetRow[],
): Promise<SnippetRecord[]> {
  if (rows.length === 0) return [];
  const { authors, paths } = await snippetRelations(db, rows);
  return rows.flatMap((row) => {
    const author = authors.get(row.author_id);
    if (!author) return [];
    const basic = presentBasic(around.baseUrl, row, paths);
    return {
      ...basic,
      author: presentUserBasic(around, author),
      file_name: row.files[0] ?? '',
      files: row.files.map((path) => ({
        path,
        raw_url: `${basic.raw_url}/${inUrl(row.default_branch)}/${inUrl(path)}`,
      })),
      imported: false,
      imported_from: 'none',
      ...(reader?.admin && { repository_storage: row.repository_storage }),
    };
  });
}
