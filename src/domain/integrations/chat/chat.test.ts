/** Messages of events, which of them are wanted, and how each service takes them. */
import { describe, expect, test } from 'vitest';
import { isWanted, labelNames } from './filters.ts';
import { type ChatMessage, type ChatPayload, messageOf } from './message.ts';
import {
  circuit,
  discord,
  googleChat,
  matrix,
  mattermost,
  microsoftTeams,
  pumble,
  pushover,
  slack,
  telegram,
  webexTeams,
} from './services.ts';

const NONE = '0'.repeat(40);
const [A, B] = ['a'.repeat(40), 'b'.repeat(40)];
const url = 'https://ashlar.example/g/p';
const project = { path_with_namespace: 'g/p', web_url: url, default_branch: 'main' };
const user = { name: 'Ada', username: 'ada' };
const push = { object_kind: 'push', user_name: 'Ada', user_username: 'ada', project, ref: 'refs/heads/a/#b' };
const commit = { id: A, title: 'Fix it', url: `${url}/-/commit/${A}`, author: { name: 'Bob' } };
const pipeline = (status: string, more: object = {}): ChatPayload => ({
  object_kind: 'pipeline',
  user,
  project,
  object_attributes: { id: 7, ref: 'main', tag: false, status, url: `${url}/-/pipelines/7`, ...more },
});
const job = (name: string, allow_failure: boolean) => ({ stage: 'b', name, status: 'failed', allow_failure });
const issue = { object_kind: 'issue', user, project };

describe('messages', () => {
  test.each<[string, ChatPayload, Partial<ChatMessage> | undefined]>([
    [
      'a push',
      { ...push, before: A, after: B, commits: [commit], total_commits_count: 1 },
      {
        title: 'Ada (ada) pushed to branch a/#b in g/p (1 commit)',
        text: 'aaaaaaaa: Fix it - Bob',
        link: `${url}/-/compare/${A}...${B}`,
      },
    ],
    [
      'a new branch',
      { ...push, before: NONE, after: B },
      { title: 'Ada (ada) pushed new branch a/#b in g/p', link: `${url}/-/commits/a/%23b` },
    ],
    ['one that went', { ...push, before: A, after: NONE }, { title: 'Ada (ada) removed branch a/#b in g/p' }],
    [
      'a tag',
      { ...push, object_kind: 'tag_push', ref: 'refs/tags/v1', before: NONE, after: A },
      { title: 'Ada (ada) pushed new tag v1 in g/p', link: `${url}/-/tags/v1` },
    ],
    [
      'an issue',
      {
        ...issue,
        object_attributes: {
          action: 'open',
          iid: 7,
          title: 'Stone',
          description: 'Heavy',
          url: `${url}/i/7`,
        },
      },
      { title: 'Ada (ada) opened issue #7: Stone in g/p', text: 'Heavy', link: `${url}/i/7` },
    ],
    [
      'a task that is closed, without its description',
      {
        ...issue,
        object_kind: 'work_item',
        object_attributes: { action: 'close', iid: 7, title: 'Stone', description: 'Heavy', url: '' },
      },
      { title: 'Ada (ada) closed issue #7: Stone in g/p', text: '' },
    ],
    ['a change', { ...issue, object_attributes: { action: 'update', iid: 7 } }, undefined],
    [
      'a merge',
      {
        ...issue,
        object_kind: 'merge_request',
        object_attributes: { action: 'merge', iid: 3, title: 'Arch' },
      },
      { title: 'Ada (ada) merged merge request !3: Arch in g/p' },
    ],
    [
      'a comment',
      {
        ...issue,
        object_kind: 'note',
        object_attributes: { action: 'create', note: 'Yes', url: `${url}#note_1` },
        merge_request: { id: 9, iid: 3, title: 'Arch' },
      },
      {
        title: 'Ada (ada) commented on merge request !3: Arch in g/p',
        text: 'Yes',
        link: `${url}#note_1`,
      },
    ],
    [
      'an edited comment',
      { ...issue, object_kind: 'note', object_attributes: { action: 'update' } },
      undefined,
    ],
    [
      'a page of a group',
      {
        object_kind: 'wiki_page',
        user,
        group: { full_path: 'g' },
        object_attributes: { action: 'create', title: 'Home', message: 'Begin', url: `${url}/home` },
      },
      { title: 'Ada (ada) created wiki page Home in g', text: 'Begin' },
    ],
    [
      'a pipeline that failed',
      { ...pipeline('failed'), builds: [job('roof', false), job('may', true)] },
      {
        title: 'Pipeline #7 of branch main by Ada (ada) failed in g/p',
        text: 'b: roof',
        link: `${url}/-/pipelines/7`,
      },
    ],
    [
      'one that succeeded',
      pipeline('success', { tag: true, ref: 'v1' }),
      { title: 'Pipeline #7 of tag v1 by Ada (ada) succeeded in g/p', text: '' },
    ],
    ['one that runs', pipeline('running'), undefined],
    ['what nobody tells', { object_kind: 'emoji' }, undefined],
  ])('%s', (_, payload, expected) => {
    const message = messageOf(payload);
    if (expected) expect(message).toMatchObject(expected);
    else expect(message).toBeUndefined();
  });
});

test.each<[object, Partial<ChatPayload>, boolean]>([
  [{}, { ref: 'refs/heads/main' }, true],
  [{}, { ref: 'refs/heads/other' }, false],
  [{}, { ref: 'refs/tags/v1' }, true],
  [{ branches_to_be_notified: 'all' }, { ref: 'refs/heads/other' }, true],
  [{ branches_to_be_notified: 'protected' }, { ref: 'refs/heads/main' }, false],
  [{ branches_to_be_notified: 'protected' }, { ref: 'refs/heads/other', ref_protected: true }, true],
  [{ branches_to_be_notified: 'default_and_protected' }, { ref: 'refs/heads/main' }, true],
  [
    { branches_to_be_notified: 'default_and_protected' },
    { ref: 'refs/heads/other', ref_protected: true },
    true,
  ],
  [{}, pipeline('failed'), true],
  [{}, pipeline('success'), false],
  [{ notify_only_broken_pipelines: false }, pipeline('success'), true],
  [{}, pipeline('failed', { ref: 'other' }), false],
  [{}, pipeline('failed', { ref: 'v1', tag: true }), true],
  [{ branches_to_be_notified: 'all' }, pipeline('failed', { ref: 'other' }), true],
  [{ branches_to_be_notified: 'protected' }, pipeline('failed'), false],
  [{ branches_to_be_notified: 'protected' }, pipeline('failed', { ref: 'other', protected_ref: true }), true],
  [{ labels_to_be_notified: '~bug' }, { ref: 'refs/heads/main' }, true],
  [{ labels_to_be_notified: '~bug' }, { object_kind: 'issue', labels: [] }, false],
  [{ labels_to_be_notified: '~bug,~new' }, { object_kind: 'issue', labels: [{ title: 'bug' }] }, true],
  [
    { labels_to_be_notified: '~bug,~new', labels_to_be_notified_behavior: 'match_all' },
    { object_kind: 'issue', labels: [{ title: 'bug' }] },
    false,
  ],
  [
    { labels_to_be_notified: '~bug' },
    { object_kind: 'note', issue: { id: 1, labels: [{ title: 'bug' }] } },
    true,
  ],
  [{ labels_to_be_notified: '~bug' }, { object_kind: 'note', commit: { id: 'a' } }, false],
])('%j of %j: %s', (properties, payload, wanted) => {
  expect(isWanted(properties as Record<string, string>, { object_kind: 'push', project, ...payload })).toBe(
    wanted,
  );
});

test('labels are written with or without their marks', () => {
  expect(labelNames('~bug, ~"needs a look",plain,,')).toEqual(['bug', 'needs a look', 'plain']);
});

describe('what people write calls nobody, and is no markup', () => {
  const hostile: ChatMessage = {
    title: '<!channel> [x](http://evil.example) & @all',
    text: '<b>@here</b>',
    link: 'https://ashlar.example/a?b="c"&d',
    color: '#1f75cb',
  };
  const webhook = 'https://chat.example/hook';
  const bodyOf = (service: typeof slack, properties = {}, channel?: string) =>
    service(hostile, { webhook, ...properties }, channel, 'integration-1-2-0');

  test('slack', () => {
    expect(bodyOf(slack, { channel: 'town', username: 'Ashlar' }, 'own')).toEqual({
      url: webhook,
      body: {
        text: `<${hostile.link}|&lt;!channel&gt; [x](http://evil.example) &amp; @all>`,
        username: 'Ashlar',
        channel: 'own',
        attachments: [
          { fallback: '&lt;b&gt;@here&lt;/b&gt;', text: '&lt;b&gt;@here&lt;/b&gt;', color: '#1f75cb' },
        ],
      },
    });
    expect(bodyOf(slack, { channel: 'town' }).body).toMatchObject({ channel: 'town' });
  });

  test('mattermost', () => {
    expect(JSON.stringify(bodyOf(mattermost))).not.toMatch(/@(?:all|here)/);
  });

  test('discord', () => {
    const other = 'https://chat.example/other';
    expect(bodyOf(discord, {}, other)).toEqual({
      url: other,
      body: {
        embeds: [{ title: hostile.title, description: hostile.text, url: hostile.link, color: 0x1f75cb }],
        allowed_mentions: { parse: [] },
      },
    });
  });

  test('microsoft-teams and webex-teams', () => {
    expect(bodyOf(microsoftTeams).body).toMatchObject({
      '@type': 'MessageCard',
      themeColor: '1f75cb',
      text: '&lt;b&gt;@here&lt;/b&gt;',
    });
    expect(bodyOf(webexTeams).body).toEqual({
      markdown: `[&lt;!channel&gt; \\[x\\](http://evil.example) &amp; @all](${hostile.link})\n\n&lt;b&gt;@here&lt;/b&gt;`,
    });
  });

  test('hangouts-chat, pumble and unify-circuit', () => {
    const { text } = bodyOf(googleChat).body as { text: string };
    expect(text.startsWith(`<${hostile.link}|`)).toBe(true);
    expect(text).not.toMatch(/<!channel>|@all|<b>|@here/);
    const escapedTitle = '&lt;!channel&gt; \\[x\\](http://evil.example) &amp; @all';
    expect(bodyOf(pumble).body).toMatchObject({
      text: `[${escapedTitle}](${hostile.link})`,
      attachments: [{ text: '&lt;b&gt;@here&lt;/b&gt;' }],
    });
    expect(bodyOf(circuit).body).toEqual({
      text: `[${escapedTitle}](${hostile.link})\n&lt;b&gt;@here&lt;/b&gt;`,
      markdown: true,
    });
  });

  test('matrix: one transaction over all tries', () => {
    const sent = bodyOf(matrix, {
      token: 'a-token',
      room: '!stone:m.example',
      hostname: 'https://m.example/',
    });
    expect(sent).toMatchObject({
      method: 'PUT',
      url: 'https://m.example/_matrix/client/v3/rooms/!stone%3Am.example/send/m.room.message/integration-1-2-0',
      headers: { authorization: 'Bearer a-token' },
      body: {
        msgtype: 'm.text',
        formatted_body:
          '<a href="https://ashlar.example/a?b=&quot;c&quot;&amp;d">&lt;!channel&gt; [x](http://evil.example) &amp; @all</a><br>&lt;b&gt;@here&lt;/b&gt;',
        'm.mentions': {},
      },
    });
  });

  test('telegram', () => {
    expect(bodyOf(telegram, { token: '1:a', room: '@r', thread: 4 })).toEqual({
      url: 'https://api.telegram.org/bot1:a/sendMessage',
      body: {
        chat_id: '@r',
        message_thread_id: 4,
        parse_mode: 'HTML',
        text:
          '<a href="https://ashlar.example/a?b=&quot;c&quot;&amp;d">&lt;!channel&gt; [x](http://evil.example) &amp; @all</a>' +
          '\n&lt;b&gt;@here&lt;/b&gt;',
      },
    });
  });

  test('pushover', () => {
    expect(bodyOf(pushover, { api_key: 'a', user_key: 'b', priority: '-1', sound: 'bike' })).toEqual({
      url: 'https://api.pushover.net/1/messages.json',
      body: {
        token: 'a',
        user: 'b',
        priority: -1,
        title: hostile.title,
        message: hostile.text,
        url: hostile.link,
        url_title: 'Open',
        sound: 'bike',
      },
    });
  });
});
