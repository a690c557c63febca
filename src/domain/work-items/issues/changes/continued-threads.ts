/** The description of an issue that takes threads over, where the request has none. Pure. */
import type { OpenThreads } from '../../../conversation/index.ts';

/** Characters of a note that are quoted. */
const MAX_QUOTED = 1_000;

const quoted = (body: string): string =>
  body
    .slice(0, MAX_QUOTED)
    .toWellFormed()
    .split('\n')
    .map((line) => `    > ${line}`.trimEnd())
    .join('\n');

export function describeThreads(iid: number, { threads }: Pick<OpenThreads, 'threads'>): string | undefined {
  const items = threads.flatMap(([first, ...more]) => {
    if (!first) return [];
    const others = more.length > 0 ? ` (+${more.length} comment${more.length === 1 ? '' : 's'})` : '';
    return `- [ ] @${first.author?.username ?? 'ghost'} began a thread:${others}\n\n${quoted(first.body)}`;
  });
  if (items.length === 0) return undefined;
  const what = items.length === 1 ? 'thread' : 'threads';
  return `The following ${what} from !${iid} should be addressed:\n\n${items.join('\n\n')}`;
}
