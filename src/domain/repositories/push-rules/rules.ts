/** What a push rule asks of names, commits and files, and the words in which it refuses (facts: packages §7.1). Pure. */
import { NO_OBJECT, shortRef } from '../../../platform/git/names.ts';
import type { Commit } from '../../../platform/git/parse.ts';
import type { RefUpdate } from '../../../platform/git/write.ts';

export type PushRule = {
  commit_message_regex: string | null;
  commit_message_negative_regex: string | null;
  branch_name_regex: string | null;
  author_email_regex: string | null;
  file_name_regex: string | null;
  /** MiB; 0 for any size. */
  max_file_size: number;
  deny_delete_tag: boolean;
  member_check: boolean;
  prevent_secrets: boolean;
  commit_committer_check: boolean;
  commit_committer_name_check: boolean;
  reject_unsigned_commits: boolean;
  reject_non_dco_commits: boolean;
};

/** Whether a text meets a pattern of the rule. */
export type Meets = (pattern: string, text: string) => boolean;

/** `^` and `$` are those of lines in a message. */
export const inLines = (pattern: string): string => `(?m)${pattern}`;

/** Names of files that have secrets: credentials, private keys, and what was typed in a shell. */
const secretNames = [
  'aws/credentials$',
  '(ssh|config)/(personal|server)_(rsa|dsa|ed25519|ecdsa)$',
  'id_(rsa|dsa|ed25519|ecdsa)$',
  '\\.(pem|key)$',
  '[._]history$',
] as const;

/** The patterns that no new file's name may meet. */
export const fileNamePatterns = ({ file_name_regex: own, prevent_secrets }: PushRule): string[] => [
  ...(prevent_secrets ? secretNames : []),
  ...(own ? [own] : []),
];

/** Whether patterns are run, which takes as long as the texts are. */
export const hasPatterns = (rule: PushRule): boolean =>
  Boolean(rule.commit_message_regex || rule.commit_message_negative_regex || rule.author_email_regex) ||
  fileNamePatterns(rule).length > 0;

export const readsCommits = (rule: PushRule): boolean =>
  Boolean(rule.commit_message_regex || rule.commit_message_negative_regex || rule.author_email_regex) ||
  rule.member_check ||
  rule.commit_committer_check ||
  rule.commit_committer_name_check ||
  rule.reject_unsigned_commits ||
  rule.reject_non_dco_commits;

export const readsFiles = (rule: PushRule): boolean =>
  rule.max_file_size > 0 || fileNamePatterns(rule).length > 0;

/** Why the ref may not be made, moved or deleted. The default branch may have any name. */
export function nameRefusal(
  { branch_name_regex: pattern, deny_delete_tag }: PushRule,
  defaultBranch: string,
  { ref, after }: RefUpdate,
  meets: Meets,
): string | undefined {
  const short = shortRef(ref);
  if (!short) return undefined;
  if (short.kind === 'tag')
    return deny_delete_tag && after === NO_OBJECT ? 'You cannot delete a tag' : undefined;
  if (!pattern || after === NO_OBJECT || short.name === defaultBranch) return undefined;
  return meets(pattern, short.name)
    ? undefined
    : `Branch name '${short.name}' does not follow the pattern '${pattern}'`;
}

/** A commit as the rule sees it. `isMade` is one that the program made itself of a request: it is not signed, nor signed off. */
export type JudgedCommit = Pick<Commit, 'message'> & {
  author: { name: string; email: string };
  committer: { name: string; email: string };
  isSigned: boolean;
  isMade: boolean;
};

/** Who pushes: the name of the account, and its addresses in lower case, with whether they are confirmed; a deploy token is nobody. */
export type Pusher = { name: string; addresses: ReadonlyMap<string, boolean> } | undefined;

export type Judged = {
  rule: PushRule;
  commits: readonly JudgedCommit[];
  /** Addresses of the commits that are of accounts, in lower case. */
  known: ReadonlySet<string>;
  pusher: Pusher;
  /** Paths of files that are new. */
  newPaths: readonly string[];
};

/** `Signed-off-by: Name <address@host>` in a line; by steps that grow with the line alone. */
export function isSignedOff(message: string): boolean {
  const mark = 'Signed-off-by:';
  return message.split('\n').some((line) => {
    const at = line.indexOf(mark);
    if (at < 0) return false;
    const open = line.indexOf('<', at + mark.length + 1);
    const middle = open < 0 ? -1 : line.indexOf('@', open + 2);
    return middle >= 0 && line.lastIndexOf('>') > middle + 1;
  });
}

function commitRefusal(
  { rule, known, pusher }: Judged,
  { message, author, committer, isSigned, isMade }: JudgedCommit,
  meets: Meets,
): string | undefined {
  const { commit_message_regex: wanted, commit_message_negative_regex: unwanted, author_email_regex } = rule;
  if (wanted && !meets(inLines(wanted), message))
    return `Commit message does not follow the pattern '${wanted}'`;
  if (unwanted && meets(inLines(unwanted), message))
    return `Commit message contains the forbidden pattern '${unwanted}'`;
  if (author_email_regex)
    for (const [who, { email }] of [['Committer', committer] as const, ['Author', author] as const])
      if (!meets(author_email_regex, email))
        return `${who}'s email '${email}' does not follow the pattern '${author_email_regex}'`;
  const isOwn = pusher?.addresses.get(committer.email.toLowerCase());
  if (rule.commit_committer_check && isOwn !== true)
    return isOwn === false
      ? `Committer's email '${committer.email}' is not verified`
      : `You cannot push commits for '${committer.email}'. You can only push commits if the committer email is one of your own verified emails.`;
  if (rule.commit_committer_name_check && committer.name !== pusher?.name)
    return 'Your git username is inconsistent with the name of your account';
  if (rule.reject_non_dco_commits && !isMade && !isSignedOff(message))
    return 'Commit message must contain a DCO signoff';
  if (rule.reject_unsigned_commits && !isMade && !isSigned) return 'Commit must be signed';
  if (rule.member_check)
    for (const [who, { email }] of [['Author', author] as const, ['Committer', committer] as const])
      if (!known.has(email.toLowerCase())) return `${who} '${email}' is not a member of team`;
  return undefined;
}

/** The first reason to refuse what is pushed. */
export function contentsRefusal(judged: Judged, meets: Meets): string | undefined {
  for (const commit of judged.commits) {
    const refusal = commitRefusal(judged, commit, meets);
    if (refusal !== undefined) return refusal;
  }
  const patterns = fileNamePatterns(judged.rule);
  for (const path of judged.newPaths) {
    const met = patterns.find((pattern) => meets(pattern, path));
    if (met !== undefined) return `File name ${path} was prohibited by the pattern "${met}"`;
  }
  return undefined;
}

export const sizeRefusal = (path: string, { max_file_size }: PushRule): string =>
  `File "${path}" is larger than the allowed size of ${max_file_size} MiB`;

/** Why a push is refused that is too much to be held to the rule. */
export const TOO_MUCH_FOR_RULE =
  'More is pushed at once than can be held to the push rules of this project. Push fewer commits at a time.';
