/**
 * Commits in requests and responses of the API (facts: Resource entities, Commit and what belongs to it;
 * Repository).
 */
import Type, { type Static } from 'typebox';
import { dateTime, nullable, stringEnum } from '../../../platform/http/parameters/schema.ts';
import { CommitRecord } from './records.ts';

export const LineCounts = Type.Object({
  additions: Type.Integer(),
  deletions: Type.Integer(),
  total: Type.Integer(),
});

export const ListedCommit = Type.Object({ ...CommitRecord.properties, stats: Type.Optional(LineCounts) });
export type ListedCommit = Static<typeof ListedCommit>;

export const PipelineBasic = Type.Object({
  id: Type.Integer(),
  iid: Type.Integer(),
  project_id: Type.Integer(),
  sha: Type.String(),
  ref: Type.String(),
  status: Type.String(),
  source: Type.String(),
  created_at: dateTime(),
  updated_at: dateTime(),
  web_url: Type.String(),
});
export type PipelineBasic = Static<typeof PipelineBasic>;

export const CommitDetail = Type.Object({
  ...ListedCommit.properties,
  status: nullable(Type.String()),
  project_id: Type.Integer(),
  last_pipeline: nullable(PipelineBasic),
});
export type CommitDetail = Static<typeof CommitDetail>;

export const DiffRecord = Type.Object({
  diff: Type.String(),
  collapsed: Type.Boolean(),
  too_large: Type.Boolean(),
  new_path: Type.String(),
  old_path: Type.String(),
  a_mode: nullable(Type.String()),
  b_mode: Type.String(),
  new_file: Type.Boolean(),
  renamed_file: Type.Boolean(),
  deleted_file: Type.Boolean(),
  generated_file: nullable(Type.Boolean()),
});

export const BasicRef = Type.Object({ type: stringEnum(['branch', 'tag']), name: Type.String() });
export const CommitSequence = Type.Object({ count: Type.Integer() });

/** No key is stored, so only the kind of signature is known. */
export const CommitSignature = Type.Object({
  signature_type: stringEnum(['PGP', 'SSH', 'X509']),
  verification_status: Type.String(),
});

export const sha = Type.String({ description: 'Commit, branch or tag.' });
export const ShaInput = Type.Object({ sha });

export const ListInput = Type.Object({
  ref_name: Type.Optional(
    Type.String({ description: 'Branch, tag or commit; the default branch unless given.' }),
  ),
  since: Type.Optional(dateTime({ description: 'Only commits of that time or later.' })),
  until: Type.Optional(dateTime({ description: 'Only commits of that time or earlier.' })),
  path: Type.Optional(
    Type.String({ maxLength: 4_096, description: 'Only commits that change what is at this path.' }),
  ),
  author: Type.Optional(
    Type.String({ maxLength: 1_000, description: "A part of the author's name or address." }),
  ),
  all: Type.Optional(Type.Boolean({ description: 'From every branch and tag.' })),
  with_stats: Type.Optional(Type.Boolean({ description: 'With the count of changed lines.' })),
  first_parent: Type.Optional(Type.Boolean({ description: 'Only the first parent of a merge.' })),
  order: Type.Optional(stringEnum(['default', 'topo'])),
  trailers: Type.Optional(Type.Boolean({ description: 'With the trailers of the messages.' })),
});
export type ListInput = Static<typeof ListInput>;
