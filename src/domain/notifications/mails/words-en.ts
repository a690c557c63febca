/** The mails in English. */
import type { Words } from '../events/mail-words.ts';

export const english: Words = {
  language: 'en',
  locale: 'en-GB',
  somebody: 'Somebody',
  rows: {
    assignees: 'Assigned to',
    labels: 'Labels',
    milestone: 'Milestone',
    due: 'Due',
    start: 'Starts',
  },
  nobody: 'nobody',
  confidential: 'This is confidential: not everybody sees it.',
  internal: 'An internal note: only the team reads it.',
  cut: 'This is the beginning of a long text.',
  openNote: 'View the comment',
  why: {
    own_activity: () => 'You get this mail because you asked to hear of what you do yourself.',
    assigned: () => 'You get this mail because this is assigned to you.',
    review_requested: () => 'You get this mail because your review is asked for.',
    mentioned: () => 'You get this mail because you were mentioned.',
    subscribed: () => 'You get this mail because you subscribed to this, or to one of its labels.',
    author: () => 'You get this mail because you wrote this.',
    unassigned: () => 'You get this mail because this was yours to take care of until now.',
    participating: () => 'You get this mail because you take part in this.',
    owner: () => 'You get this mail because the pipeline is yours.',
    member: (place) => `You get this mail because you are a member of ${place}.`,
    custom: (place) => `You get this mail because you chose to hear of such events in ${place}.`,
    watching: (place) => `You get this mail because you watch ${place}.`,
  },
  unsubscribe: 'No more mails about this',
  settings: 'Change what you get mails about',
  sentBy: (site) => `Sent by Ashlar at ${site}`,
};
