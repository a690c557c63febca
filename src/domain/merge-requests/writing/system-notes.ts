/** System notes that only merge requests have, in the public API's words (facts: System notes). */
import { sentenceOf } from '../../../platform/sentence.ts';
import { type NamedUser, people, type SystemNote } from '../../work-items/index.ts';

export const draftNote = (isDraft: boolean): SystemNote => ({
  action: 'title',
  body: `marked this merge request as **${isDraft ? 'draft' : 'ready'}**`,
});

export const reviewersNote = ({
  added,
  removed,
}: {
  added: readonly NamedUser[];
  removed: readonly NamedUser[];
}): SystemNote => ({
  action: 'reviewer',
  body: sentenceOf([
    ...(added.length > 0 ? [`requested review from ${people(added)}`] : []),
    ...(removed.length > 0 ? [`removed review request for ${people(removed)}`] : []),
  ]),
});

export const branchNote = ({ from, to }: { from: string; to: string }): SystemNote => ({
  action: 'branch',
  body: `changed target branch from \`${from}\` to \`${to}\``,
});
