import { beforeAll, expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import {
  addMember,
  bodyOf,
  type MadeGroup,
  type MadeProject,
  type MadeUser,
  makeGroup,
  makeProject,
  makeUser,
} from '../../../../test/support/factories.ts';
import { notificationEvent } from '../events/events.ts';
import { notificationSubjects } from '../events/subjects.ts';
import { type EventContext, findProspects, type Page } from './candidate-queries.ts';

const app = useApp();
const GUEST = 10;

let group: MadeGroup;
let below: MadeGroup;
let project: MadeProject;
let issue: { id: number; iid: number };
const people: Record<string, MadeUser> = {};
const idOf = (name: string): number => people[name]?.id ?? 0;

/** A user with this action alone. */
async function make(name: string, act: (user: MadeUser) => Promise<unknown> = async () => {}): Promise<void> {
  const user = await makeUser(app);
  people[name] = user;
  await act(user);
}

const level = async (user: MadeUser, place: string, body: Record<string, unknown>): Promise<void> => {
  bodyOf(await app.as(user.token)(`PUT ${place}/notification_settings`, { body }), 200);
};

const matter = (
  told: Partial<EventContext> = {},
  event: 'new_issue' | 'close_issue' = 'new_issue',
): EventContext => ({
  event: notificationEvent(event, {
    actorId: 1,
    projectId: project.id,
    subject: { kind: 'issue', id: issue.id },
  }),
  subject: notificationSubjects.all(app.app.services).find(({ kind }) => kind === 'issue') ?? {},
  ancestorIds: [group.id, below.id],
  emailsDisabled: false,
  authorId: 1,
  assigneeIds: [],
  reviewerIds: [],
  mentionedIds: new Set(),
  ...told,
});

/** The ids of a page of candidates. */
async function idsOf(context: EventContext, page: Page): Promise<number[]> {
  const prospects = await findProspects(app.app.services.database.db, context, page);
  return prospects.map(({ candidate }) => candidate.id);
}

beforeAll(async () => {
  group = await makeGroup(app, { visibility: 'public' });
  below = await makeGroup(app, { visibility: 'public', parent_id: group.id });
  project = await makeProject(app, { visibility: 'public', namespace_id: below.id });
  const label = bodyOf(
    await app.root(`POST /projects/${project.id}/labels`, { body: { name: 'deep', color: '#112233' } }),
    201,
  );
  issue = bodyOf(
    await app.root(`POST /projects/${project.id}/issues`, { body: { title: 'x', labels: 'deep' } }),
    201,
  );
  const at = `/projects/${project.id}/issues/${issue.iid}`;
  const as = (user: MadeUser) => app.as(user.token);
  await make('spoke', async (user) =>
    bodyOf(await as(user)(`POST ${at}/notes`, { body: { body: 'hi' } }), 201),
  );
  await make('subscribed', async (user) => bodyOf(await as(user)(`POST ${at}/subscribe`), 201));
  await make('label', async (user) =>
    bodyOf(await as(user)(`POST /projects/${project.id}/labels/${label.id}/subscribe`), 201),
  );
  await make('watches project', (user) => level(user, `/projects/${project.id}`, { level: 'watch' }));
  await make('watches root', (user) => level(user, `/groups/${group.id}`, { level: 'watch' }));
  await make('chose', (user) => level(user, `/groups/${below.id}`, { level: 'custom', close_issue: true }));
  await make('watches all, and is no member', (user) => level(user, '', { level: 'watch' }));
  await make('watches all', async (user) => {
    await addMember(app, `groups/${group.id}`, user, GUEST);
    await level(user, '', { level: 'watch' });
  });
  await make('member', (user) => addMember(app, `groups/${below.id}`, user, GUEST));
  await make('stranger');
  await make('blocked watcher', async (user) => {
    await level(user, `/projects/${project.id}`, { level: 'watch' });
    await app.app.services.database.sql`update users set state = 'blocked' where id = ${user.id}`;
  });
});

const expected = ['spoke', 'subscribed', 'label', 'watches project', 'watches root', 'chose', 'watches all'];

test('those who may hear of it are found, page by page, each once', async () => {
  const all = await idsOf(matter(), { after: 0, limit: 100 });
  // The commenter came later. Its author does not hear of what they do themselves.
  const fromBeginning = expected
    .filter((name) => name !== 'spoke')
    .map(idOf)
    .sort((a, b) => a - b);
  expect(all).toEqual(fromBeginning);
  const paged: number[] = [];
  for (let after = 0; ; ) {
    const page = await idsOf(matter(), { after, limit: 3 });
    paged.push(...page);
    if (page.length < 3) break;
    after = page.at(-1) ?? 0;
  }
  expect(paged).toEqual(all);
  const closed = await idsOf(matter({}, 'close_issue'), { after: 0, limit: 100 });
  expect(closed).toEqual([idOf('spoke'), ...all.filter((id) => id !== idOf('label'))].sort((a, b) => a - b));
});

test('whoever is named is among them, wherever the rest is not, and nobody where no mail is sent', async () => {
  const named = { mentionedIds: new Set([idOf('stranger')]), assigneeIds: [idOf('member')] };
  const page = { after: 0, limit: 100 };
  const ids = await idsOf(matter(named), page);
  expect(ids).toEqual(expect.arrayContaining([idOf('stranger'), idOf('member')]));
  expect(await idsOf(matter({ ...named, emailsDisabled: true }), page)).toEqual([]);
  await app.app.services.database.sql`update users set timezone = 'Asia/Tokyo' where id = ${idOf('chose')}`;
  expect(await idsOf(matter(), { ...page, zones: ['Asia/Tokyo'] })).toEqual([idOf('chose')]);
  expect(await idsOf(matter(), { ...page, zones: [''] })).not.toContain(idOf('chose'));
});

test('members alone hear of a move, by shares too', async () => {
  const moved = notificationEvent('moved_project', {
    projectId: project.id,
    subject: { kind: 'project', id: project.id },
  });
  const invited = await makeGroup(app);
  await make('invited', (user) => addMember(app, `groups/${invited.id}`, user, GUEST));
  const body = { group_id: invited.id, group_access: 30 };
  bodyOf(await app.root(`POST /projects/${project.id}/share`, { body }), 201);
  const ids = await idsOf(matter({ event: moved }), { after: 0, limit: 100 });
  expect(ids).toEqual([1, ...['watches all', 'member', 'invited'].map(idOf)].sort((a, b) => a - b));
});

test('how each stands to it is found for all at once', async () => {
  const { db } = app.app.services.database;
  const names = [...expected, 'member', 'stranger'];
  const stancesTo = async (event: 'new_issue' | 'close_issue') => {
    const told = { assigneeIds: [idOf('member')], mentionedIds: new Set([idOf('stranger')]) };
    const which = { ids: [1, ...names.map(idOf)] };
    const prospects = await findProspects(db, matter(told, event), which);
    return prospects.map(({ candidate: { id, member, participation } }) => {
      const name = names.find((each) => idOf(each) === id) ?? 'root';
      const truths = Object.entries(participation).flatMap(([key, value]) => (value ? [key] : []));
      return [name, member, truths.join(' ')];
    });
  };
  expect(await stancesTo('close_issue')).toEqual(
    expect.arrayContaining([
      ['root', true, 'author participates'],
      ['spoke', false, 'participates'],
    ]),
  );
  expect(await stancesTo('new_issue')).toEqual([
    ['root', true, 'author'],
    ['spoke', false, ''],
    ['subscribed', false, 'subscribed'],
    ['label', false, 'labelSubscribed'],
    ['watches project', false, ''],
    ['watches root', false, ''],
    ['chose', false, ''],
    ['watches all', true, ''],
    ['member', true, 'assigned participates'],
    ['stranger', false, 'mentioned'],
  ]);
});
