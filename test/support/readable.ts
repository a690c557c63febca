/**
 * One record of each kind that has a page, private and made through the API by a user, who alone may read it.
 */
import type { Called, Site } from './app.ts';
import type { Browser, PageResponse } from './browser.ts';
import { bodyOf, createUser, uniqueName } from './factories.ts';

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const OWNER_PASSWORD = 'correct horse battery staple';

const README = `# Ashlar in short

A paragraph with a [guide](docs/guide.md), a ![picture](docs/stone.png), a ![drawing](docs/picture.svg) and <script>alert(1)</script> no script.

| Stone | Weight |
|---|---|
| granite | 2.7 |
| slate | 2.8 |

- [x] cut
- [ ] laid

\`\`\`ts
export const answer: number = 42; // a long line that goes on and on and on, as lines of code do now and then in any repository
\`\`\`
`;

const files = {
  'README.md': README,
  'docs/picture.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="alert(1)"><script>alert(1)</script><rect width="9" height="9" fill="teal"/></svg>',
  'docs/guide.md': '# Guide\n\nBack to [the start](../README.md).\n',
  'docs/uploads/notes.txt': 'notes\n',
  'src/wall.ts': Array.from({ length: 30 }, (_, row) => `export const course${row} = ${row};`).join('\n'),
  'odd name #1?.txt': 'odd\n',
};

export type Readable = {
  owner: { id: number; username: string; token: string };
  group: { id: number; full_path: string };
  project: { id: number; path_with_namespace: string };
  head: string;
  issue: Called['body'];
  mergeRequest: Called['body'];
  note: Called['body'];
  epic: Called['body'] | undefined;
  personal: Called['body'];
  snippet: Called['body'];
  /** Paths that the owner's client reads, below /api/v4. */
  reads: string[];
};

/** An upload as a browser sends it. */
async function sendPicture(app: Site, token: string, method: string, path: string): Promise<void> {
  const form = new FormData();
  form.set('avatar', new Blob([PIXEL], { type: 'image/png' }), 'stone.png');
  const response = await fetch(`${app.url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token },
    body: form,
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

/** Makes all records. `paid` is false where epics and wikis of groups do not exist. */
export async function makeReadable(app: Site, paid = true): Promise<Readable> {
  const owner = await createUser(app, {
    name: 'Ada Mason',
    bio: 'Cuts stones.',
    location: 'Carrara',
    website_url: 'https://stones.example',
  });
  const call = app.as(owner.token);
  const post = async (path: string, body: Record<string, unknown>) =>
    bodyOf(await call(`POST ${path}`, { body }), 201);
  const name = uniqueName('quarry');
  const group = await post('/groups', {
    name: 'The Quarry',
    path: name,
    visibility: 'private',
    description: 'Where **stones** come from.',
  });
  const inside = await post('/groups', { name: 'Yard', path: 'yard', parent_id: group.id });
  const project = await post('/projects', {
    name: 'Dry Wall',
    path: 'dry-wall',
    namespace_id: inside.id,
    visibility: 'private',
    description: 'A wall without mortar.',
    topics: ['stone', 'wall'],
  });
  const home = `/projects/${project.id}`;
  await sendPicture(app, owner.token, 'PUT', '/user/avatar');
  await sendPicture(app, owner.token, 'PUT', home);
  await sendPicture(app, owner.token, 'PUT', `/groups/${group.id}`);
  const repository = `${home}/repository`;
  const texts = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }));
  const picture = {
    action: 'create',
    file_path: 'docs/stone.png',
    content: PIXEL.toString('base64'),
    encoding: 'base64',
  };
  const commit = (commit_message: string, actions: Record<string, unknown>[]) =>
    post(`${repository}/commits`, { branch: 'main', commit_message, actions });
  await commit('Commit 1\n\nAll that is there at first.', [...texts, picture]);
  const wall = { action: 'update', file_path: 'src/wall.ts', content: 'export const wall = true;\n' };
  const { id: head } = await commit('Commit 2', [wall]);
  await post(`${repository}/branches`, { branch: 'course/upper', ref: 'main' });
  await post(`${repository}/tags`, { tag_name: 'v1.0', ref: 'main', message: 'First course' });
  await post(`${home}/statuses/${head}`, {
    state: 'success',
    name: 'level',
    target_url: 'https://ci.example/1',
  });
  await post(`${repository}/commits/${head}/comments`, { note: 'Straight.' });
  await post(`${home}/labels`, { name: 'heavy & hard', color: '#7a3e00', description: 'Two people' });
  await post(`/groups/${group.id}/labels`, { name: 'urgent', color: '#d11' });
  const milestone = await post(`${home}/milestones`, {
    title: 'First course',
    due_date: '2030-05-01',
    description: 'Up to the *knee*.',
  });
  await post(`${home}/releases`, {
    tag_name: 'v1/first',
    ref: 'main',
    description: 'Of **stone**',
    milestone_ids: [milestone.id],
    assets: { links: [{ name: 'Stone', url: 'https://example.com/stone' }] },
  });
  await post(`/groups/${group.id}/milestones`, {
    title: 'All walls',
    start_date: '2030-01-01',
    due_date: '2030-12-31',
  });
  const issue = await post(`${home}/issues`, {
    title: 'The third course leans',
    description: `See ${head.slice(0, 12)} and @${owner.username}.\n\n- [x] measure\n- [ ] mend`,
    labels: 'heavy & hard,urgent',
    milestone_id: milestone.id,
    assignee_ids: [owner.id],
    due_date: '2030-04-01',
    ...(paid && { weight: 3 }),
  });
  const other = await post(`${home}/issues`, { title: 'Order more granite', confidential: true });
  const note = await post(`${home}/issues/${issue.iid}/notes`, { body: 'It leans by **2 cm**, as #2 says.' });
  const thread = await post(`${home}/issues/${issue.iid}/discussions`, { body: 'Shall we take it down?' });
  await post(`${home}/issues/${issue.iid}/discussions/${thread.id}/notes`, {
    body: '> take it down\n\nYes.',
  });
  await post(`${home}/issues/${issue.iid}/notes`, { body: 'Only for the team.', internal: true });
  bodyOf(
    await call(`PUT ${home}/issues/${issue.iid}`, { body: { title: 'The third course leans to the left' } }),
    200,
  );
  bodyOf(await call(`PUT ${home}/issues/${other.iid}`, { body: { state_event: 'close' } }), 200);
  await post(`${repository}/commits`, {
    branch: 'mortar',
    start_branch: 'main',
    commit_message: 'Mix mortar',
    actions: [{ action: 'create', file_path: 'mortar.txt', content: 'lime\nsand\n' }],
  });
  const mergeRequest = await post(`${home}/merge_requests`, {
    title: 'Mortar after all',
    description: `As #${issue.iid} says.\n\n- [x] mix\n- [ ] lay`,
    source_branch: 'mortar',
    target_branch: 'main',
    labels: 'heavy & hard',
    milestone_id: milestone.id,
    assignee_ids: [owner.id],
    reviewer_ids: [owner.id],
  });
  const reviewed = `${home}/merge_requests/${mergeRequest.iid}`;
  await post(`${reviewed}/notes`, { body: 'A **dry** wall has none.' });
  bodyOf(await call(`PUT ${reviewed}`, { body: { title: 'Mortar, after all' } }), 200);
  const snippet = await post(`${home}/snippets`, {
    title: 'Plumb line',
    visibility: 'private',
    files: [
      { file_path: 'plumb.rb', content: 'puts :straight\n' },
      { file_path: 'notes/how to.md', content: '# How\n' },
    ],
  });
  await post(`${home}/snippets/${snippet.id}/notes`, { body: 'Handy.' });
  const personal = await post('/snippets', {
    title: 'Mine',
    visibility: 'private',
    files: [{ file_path: 'mine.txt', content: 'mine\n' }],
  });
  await post(`${home}/wikis`, { title: 'home', content: 'Welcome. See [tools](tools/hammer).' });
  await post(`${home}/wikis`, { title: 'tools/hammer', content: 'A hammer.' });
  const epic = paid
    ? await post(`/groups/${group.id}/epics`, {
        title: 'Fences',
        description: 'All of them.',
        labels: 'urgent',
      })
    : undefined;
  if (epic) {
    await post(`/groups/${group.id}/epics/${epic.iid}/issues/${issue.id}`, {});
    await post(`/groups/${group.id}/epics/${epic.id}/notes`, { body: 'From the north.' });
    await post(`/groups/${group.id}/epics/${epic.iid}/epics`, { title: 'The north fence' });
    await post(`/groups/${group.id}/wikis`, { title: 'home', content: 'Of the quarry.' });
  }
  bodyOf(await call(`POST ${home}/issues/${issue.iid}/todo`), 201);
  const mason = await createUser(app, { name: 'Bo' });
  await post(`${home}/members`, { user_id: mason.id, access_level: 30 });
  const asks = { body: `@${owner.username}, is it level?` };
  bodyOf(await app.as(mason.token)(`POST ${home}/issues/${issue.iid}/notes`, { body: asks }), 201);
  const groups = `/groups/${group.id}`;
  const reads = [
    `/users/${owner.id}`,
    `/users/${owner.id}/projects`,
    '/user',
    '/namespaces',
    '/groups',
    groups,
    `${groups}/subgroups`,
    `/groups/${inside.id}/projects`,
    `${groups}/members`,
    `${groups}/issues`,
    `${groups}/milestones`,
    `${groups}/labels`,
    home,
    `${home}/users`,
    `${home}/groups`,
    `${home}/members/all`,
    `${home}/issues`,
    `${home}/issues/${issue.iid}`,
    `${home}/issues/${issue.iid}/notes`,
    `${home}/issues/${issue.iid}/discussions`,
    `${home}/issues/${issue.iid}/participants`,
    `${groups}/merge_requests`,
    `${home}/merge_requests`,
    reviewed,
    `${reviewed}/notes`,
    `${reviewed}/reviewers`,
    `${home}/milestones`,
    `${home}/releases`,
    `${home}/releases/v1%2Ffirst`,
    `${groups}/releases`,
    `${home}/milestones/${milestone.id}/issues`,
    `${home}/snippets`,
    `${home}/snippets/${snippet.id}`,
    '/snippets',
    `/snippets/${personal.id}`,
    `${repository}/branches`,
    `${repository}/tags`,
    `${repository}/commits`,
    `${repository}/commits/${head}`,
    `${repository}/commits/${head}/comments`,
    `${repository}/commits/${head}/statuses`,
    `${repository}/compare?from=v1.0&to=course/upper`,
    `${repository}/compare?from=main~1&to=main`,
    '/todos',
    '/personal_access_tokens/self/associations',
    ...(paid ? [`${groups}/epics`, `${groups}/epics/${epic.iid}`, `${groups}/epics/${epic.iid}/issues`] : []),
  ];
  return { owner, group, project, head, issue, mergeRequest, note, epic, personal, snippet, reads };
}

/** Addresses of this site outside the API, from the root, by the first record of the owner's that has them. */
export async function addressesIn(app: Site, { owner, reads }: Readable): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  function collect(value: unknown, key: string, from: string): void {
    if (Array.isArray(value)) for (const each of value) collect(each, key, from);
    else if (typeof value === 'object' && value !== null)
      for (const [name, each] of Object.entries(value)) collect(each, name, from);
    else if (typeof value === 'string') {
      const own = value.startsWith(`${app.url}/`) ? value.slice(app.url.length) : value;
      const isOwn = own !== value || (key === 'url' && value.startsWith('/'));
      if (isOwn && !own.startsWith('/api/') && !found.has(own)) found.set(own, `${from} ${key}`);
    }
  }
  for (const path of reads) {
    const [route = '', query] = path.split('?');
    const response = await app.as(owner.token)(`GET ${route}`, { ...(query && { query }) });
    collect(bodyOf(response, 200), '', route);
  }
  return found;
}

/** The response at the end of a redirect or two. */
export async function follow(app: Site, browser: Browser, address: string): Promise<PageResponse> {
  let response = await browser.get(address.replace(/#.*/, ''));
  for (let hops = 0; hops < 3 && response.location !== null; hops++)
    response = await browser.get(response.location.replace(app.url, ''));
  return response;
}
