/** Push rules in requests and responses (facts: Resource entities). */
import Type, { type Static } from 'typebox';
import { nullable } from '../../../platform/http/parameters/schema.ts';

const MAX_PATTERN_LENGTH = 511;
const MAX_MEBIBYTES = 2_147_483_647;

const pattern = (description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: MAX_PATTERN_LENGTH, description })));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

export const patterns = {
  commit_message_regex: pattern('Every message must meet it, in the syntax of RE2.'),
  commit_message_negative_regex: pattern('No message may meet it.'),
  branch_name_regex: pattern('Every branch must meet it; the default branch need not.'),
  author_email_regex: pattern('Addresses of authors and committers must meet it.'),
  file_name_regex: pattern('No path of a new file may meet it.'),
};

const fields = {
  ...patterns,
  deny_delete_tag: flag('Tags are not deleted, by git or otherwise.'),
  member_check: flag('Authors and committers must be users of the instance, by confirmed addresses.'),
  prevent_secrets: flag('New files are not called as those with private keys and credentials are.'),
  max_file_size: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_MEBIBYTES, description: 'MiB of a file; 0 for any size.' }),
  ),
  commit_committer_check: flag('Who pushes must be the committer, by a confirmed address.'),
  commit_committer_name_check: flag('Committers must be called as who pushes is.'),
  reject_unsigned_commits: flag('Commits need a signature; no key is known to verify it by.'),
  reject_non_dco_commits: flag('Messages need a line `Signed-off-by`.'),
};

export const RuleInput = Type.Object(fields);
export type RuleInput = Static<typeof RuleInput>;

const text = nullable(Type.String());
const record = {
  id: Type.Integer(),
  created_at: Type.String(),
  commit_message_regex: text,
  commit_message_negative_regex: text,
  branch_name_regex: text,
  deny_delete_tag: Type.Boolean(),
  member_check: Type.Boolean(),
  prevent_secrets: Type.Boolean(),
  author_email_regex: text,
  file_name_regex: text,
  max_file_size: Type.Integer(),
  commit_committer_check: Type.Boolean(),
  commit_committer_name_check: Type.Boolean(),
  reject_unsigned_commits: Type.Boolean(),
  reject_non_dco_commits: Type.Boolean(),
};
export const PushRuleRecord = {
  project: Type.Object({ ...record, project_id: Type.Integer() }),
  group: Type.Object(record),
};
