/** What administrators may do to an account from its page: words for each change, and which fit its state. Pure. */

export const userChanges = {
  approve: { label: 'Approve', done: 'Approved: they can sign in now.' },
  reject: {
    label: 'Reject',
    done: 'Rejected: the account is being removed.',
    warning: 'The account is removed. The address and the username are free again.',
  },
  block: {
    label: 'Block',
    done: 'Blocked: nothing of the account works until it is unblocked.',
    warning: 'Sessions and tokens end at once. What the account made stays.',
  },
  unblock: { label: 'Unblock', done: 'Unblocked.' },
  deactivate: {
    label: 'Deactivate',
    done: 'Deactivated: the account is asleep until it is activated.',
    warning:
      'For accounts that nobody used for 90 days: sessions and tokens end, what the account made stays.',
  },
  activate: { label: 'Activate', done: 'Activated.' },
  ban: {
    label: 'Ban',
    done: 'Banned.',
    warning: 'As blocking; and what the account wrote is hidden from others.',
  },
  unban: { label: 'Lift the ban', done: 'The ban is lifted.' },
  make_administrator: {
    label: 'Make administrator',
    done: 'This is an administrator now.',
    warning: 'Administrators see and change everything on this site, these pages too.',
  },
  take_administrator: {
    label: 'No longer an administrator',
    done: 'This is no administrator any more.',
    warning: 'The account keeps what it is a member of.',
  },
} as const satisfies Record<string, { label: string; done: string; warning?: string }>;

export type UserChange = keyof typeof userChanges;

export const isUserChange = (name: string): name is UserChange => Object.hasOwn(userChanges, name);

/** Every other state is that of an account that is let in. */
const ofState: Readonly<Record<string, readonly UserChange[]>> = {
  blocked_pending_approval: ['approve', 'reject'],
  blocked: ['unblock'],
  banned: ['unban'],
  deactivated: ['activate', 'block'],
  active: ['block', 'deactivate', 'ban'],
};

/** The changes that fit the account: its owner is not offered what would lock them out, and the API refuses. */
export function changesFor(user: { state: string; admin: boolean; self: boolean }): readonly UserChange[] {
  const states = user.self ? [] : (ofState[user.state] ?? []);
  if (user.state !== 'active') return states;
  return [...states, user.admin ? 'take_administrator' : 'make_administrator'];
}

const stateWords: Readonly<Record<string, string>> = {
  blocked_pending_approval: 'Waits for approval',
};

/** The state of an account in words. */
export const stateWord = (state: string): string =>
  stateWords[state] ?? `${(state[0] ?? '').toUpperCase()}${state.slice(1).replaceAll('_', ' ')}`;
