/** The verdict of a service that speaks the Akismet protocol, version 1.1 (comment-check). */

import type { Fetch } from '../../kernel/api/outbound-fetch.ts';
import { version } from '../../package.ts';

export type Submission = {
  kind: 'Issue' | 'Snippet' | 'Note';
  write: 'create' | 'update';
  title: string | undefined;
  text: string;
  author: { username: string; email: string };
  address: string;
  userAgent: string | undefined;
  writtenAt: Date;
};

type Service = { fetch: Fetch; url: string; key: string; site: string };

const TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 10_000;
/** Characters sent to the service: enough for a verdict, even of a huge snippet. */
const MAX_TEXT_LENGTH = 100_000;

function parametersOf({ key, site }: Service, submission: Submission): URLSearchParams {
  const { kind, write, title, text, author, address, userAgent, writtenAt } = submission;
  return new URLSearchParams({
    api_key: key,
    blog: site,
    blog_charset: 'UTF-8',
    user_ip: address,
    user_agent: userAgent ?? '',
    comment_type: kind === 'Note' ? 'reply' : 'forum-post',
    comment_author: author.username,
    comment_author_email: author.email,
    comment_content: (title === undefined ? text : `${title}\n${text}`)
      .slice(0, MAX_TEXT_LENGTH)
      .toWellFormed(),
    comment_date_gmt: writtenAt.toISOString(),
    ...(write === 'update' && { recheck_reason: 'edit' }),
  });
}

/**
 * Whether the service takes it for spam; fails without a verdict, with the service's reason if it has one.
 */
export async function isSpam(service: Service, submission: Submission): Promise<boolean> {
  const { status, headers, body } = await service.fetch(
    `${service.url.replace(/\/+$/, '')}/1.1/comment-check`,
    {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': `Ashlar/${version.own} | Spam gate/1.0`,
      },
      body: parametersOf(service, submission).toString(),
      timeoutMilliseconds: TIMEOUT_MS,
      maximumBytes: MAX_RESPONSE_BYTES,
    },
  );
  const verdict = body.toString().trim();
  if (status === 200 && (verdict === 'true' || verdict === 'false')) return verdict === 'true';
  const help = headers['x-akismet-debug-help'];
  const reason = typeof help === 'string' ? `: ${help.slice(0, 200)}` : '';
  throw new Error(`the spam service gave no verdict, but status ${status}${reason}`);
}
