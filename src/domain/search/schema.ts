/**
 * Fields of a search request, and the records of each scope (facts: Further groups, Search; Resource
 * entities).
 */
import Type, { type Static } from 'typebox';
import { BasicProject } from '../../kernel/namespaces/project-records.ts';
import { UserBasic } from '../../kernel/users/records.ts';
import { nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { NoteRecord } from '../conversation/index.ts';
import { MilestoneRecord } from '../planning/index.ts';
import { CommitRecord } from '../repositories/index.ts';
import { SnippetRecord } from '../snippets/index.ts';
import { IssueBasicRecord } from '../work-items/index.ts';

const shared = [
  'wiki_blobs',
  'blobs',
  'commits',
  'notes',
  'issues',
  'merge_requests',
  'milestones',
  'users',
] as const;
const projectScopes = shared;
const groupScopes = [...shared, 'projects'] as const;
const instanceScopes = [...groupScopes, 'snippet_titles'] as const;
export type Scope = (typeof instanceScopes)[number];

/** A match in a file; `basename` is the path without its ending. */
export const BlobRecord = Type.Object({
  basename: Type.String(),
  data: Type.String(),
  path: Type.String(),
  filename: Type.String({ deprecated: true, description: 'Use `path`.' }),
  id: nullable(Type.Integer()),
  ref: Type.String(),
  startline: Type.Integer(),
  project_id: Type.Integer(),
});
export type BlobRecord = Static<typeof BlobRecord>;

const FoundCommit = Type.Object({ ...CommitRecord.properties, project_id: Type.Integer() });

/** The first that fits is written: none has all that one before it requires. */
export const SearchRecord = Type.Union([
  IssueBasicRecord,
  BasicProject,
  MilestoneRecord,
  SnippetRecord,
  NoteRecord,
  FoundCommit,
  BlobRecord,
  UserBasic,
]);
export type SearchRecord = Static<typeof SearchRecord>;

const search = Type.String({
  maxLength: 4_096,
  description: 'Words that must all be there; `"` around a phrase.',
});
const state = Type.Optional(
  stringEnum(['all', 'opened', 'closed', 'merged'], { description: 'Of issues and merge requests.' }),
);
const confidential = Type.Optional(
  Type.Boolean({ description: 'Only issues that are confidential, or only others.' }),
);
const common = { search, state, confidential };
const archived = {
  include_archived: Type.Optional(
    Type.Boolean({ default: false, description: 'What is in archived projects too.' }),
  ),
};

export const InstanceInput = Type.Object({ ...common, ...archived, scope: stringEnum(instanceScopes) });
export const GroupInput = Type.Object({ ...common, ...archived, scope: stringEnum(groupScopes) });
export const ProjectInput = Type.Object({
  ...common,
  scope: stringEnum(projectScopes),
  ref: Type.Optional(Type.String({ description: 'Branch, tag or commit; the default branch unless given.' })),
});
