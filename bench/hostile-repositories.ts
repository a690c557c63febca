/** The worst repositories for each way to read them, as `git fast-import` streams, and the requests for them. */
import { execFileSync } from 'node:child_process';
import { projectRepository } from '../src/domain/repositories/store/containers.ts';
import { titleOf } from '../test/support/inventory.ts';
import type { WalkedRequest, Watched } from './loop-stalls.ts';

const MEBIBYTE = 1_048_576;

type Files = Record<string, string | Buffer>;

/** A commit on a branch that changes these files. */
function* commit(
  files: Files,
  {
    branch = 'main',
    message = 'Change',
    author = 'Ada <ada@example.com>',
    from = '',
    time = 1_700_000_000,
  } = {},
): Generator<string | Buffer> {
  const who = `${author} ${time} +0000`;
  yield `commit refs/heads/${branch}\nauthor ${who}\ncommitter ${who}\ndata ${Buffer.byteLength(message)}\n${message}\n${from}`;
  for (const [path, text] of Object.entries(files)) {
    yield `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n`;
    yield text;
    yield '\n';
  }
}

const begin = (files: Files) => [...commit(files), 'reset refs/heads/before\nfrom refs/heads/main\n\n'];
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const filesOf = (count: number, name: (index: number) => string, text: string): Files =>
  Object.fromEntries(times(count, (index) => [name(index), `${text}${index}`]));

/** A file that all repositories have, and that is requested. */
const FILE = 'file.ts';
const file = (text: string | Buffer): Files => ({ [FILE]: text });

const twice = (before: string | Buffer, after: string | Buffer) => () => [
  ...begin(file(before)),
  ...commit(file(after)),
];

const histories = (count: number, each: (index: number) => Parameters<typeof commit>[1]) => () => [
  ...begin(file('a')),
  ...times(count, (index) => [
    ...commit(file(`a ${index}`), { time: 1_700_000_000 + index, ...each(index) }),
  ]).flat(),
];

const refs = (kind: string, count: number, name: (index: number) => string): string =>
  times(count, (index) => `reset refs/${kind}/${name(index)}\nfrom refs/heads/main\n\n`).join('');

const repositories: Record<string, () => readonly (string | Buffer)[]> = {
  'many short lines': twice(
    'a\nb\n\nc\n'.repeat((2 * MEBIBYTE) / 7),
    'c\na\n\n\nb\n'.repeat((2 * MEBIBYTE) / 9),
  ),
  'very many short lines': twice('a\n'.repeat((15 * MEBIBYTE) / 2), 'b\n'.repeat((15 * MEBIBYTE) / 2)),
  'long lines': twice(`${'a'.repeat(1_000)}\n`.repeat(15_000), `${'b'.repeat(1_000)}\n`.repeat(15_000)),
  'one long line': twice('a'.repeat(15 * MEBIBYTE), 'b'.repeat(15 * MEBIBYTE)),
  'bytes that are no text': twice(
    Buffer.alloc(9 * MEBIBYTE, 0xff),
    Buffer.alloc(9 * MEBIBYTE, 'é\n', 'latin1'),
  ),
  'many files': () => [
    ...begin(filesOf(100_000, (index) => `f${index}.ts`, 'a')),
    ...commit({ ...filesOf(100_000, (index) => `f${index}.ts`, 'b'), ...file('a') }),
  ],
  'patches at their limit': () => [
    ...begin({ ...filesOf(60, (index) => `f${index}.ts`, 'a\n'.repeat(15_000)), ...file('a') }),
    ...commit(filesOf(60, (index) => `f${index}.ts`, 'b\n'.repeat(15_000))),
  ],
  'long names': () => [
    ...begin(filesOf(2_000, (index) => `${`${'x'.repeat(250)}/`.repeat(10)}f${index}.ts`, 'a')),
    ...commit({
      ...filesOf(2_000, (index) => `${`${'y'.repeat(250)}/`.repeat(10)}f${index}.ts`, 'a'),
      ...file('a'),
    }),
  ],
  'deep folders': () => [
    ...begin(filesOf(100, (index) => `${'d/'.repeat(400)}${index}`, 'a')),
    ...commit({ ...filesOf(100, (index) => `${'d/'.repeat(400)}${index}`, 'b'), ...file('a') }),
  ],
  'many refs': () => [
    ...begin(file('a')),
    refs('heads', 20_000, (index) => `b${index}`),
    refs('tags', 20_000, (index) => `t${index}`),
  ],
  'long refs': () => [
    ...begin(file('a')),
    refs('heads', 5_000, (index) => `${'x'.repeat(200)}${index}`),
    refs('tags', 5_000, (index) => `${'x'.repeat(200)}${index}`),
  ],
  'long messages': histories(100, (index) => ({ message: `Change ${index}\n\n${'m'.repeat(80_000)}` })),
  'messages of short lines': histories(100, (index) => ({
    message: `Change ${index}\n\n${'m\n'.repeat(40_000)}`,
  })),
  'messages of trailers': histories(100, (index) => ({
    message: `Change ${index}\n\n${'a: b\n'.repeat(16_000)}`,
  })),
  'very long messages': histories(9, (index) => ({ message: `Change ${index}\n\n${'m'.repeat(900_000)}` })),
  'long authors': histories(100, (index) => ({ author: `${'a'.repeat(80_000)}${index} <a@example.com>` })),
  'many authors': histories(10_000, (index) => ({ author: `a${index} <a${index}@example.com>` })),
  attributes: () => [
    ...begin({ '.gitattributes': '*.ts linguist-language=A\n'.repeat(40_000), ...file('a') }),
    ...commit({ ...filesOf(5_000, (index) => `f${index}.x${index}`, 'b') }),
  ],
  submodules: () => [
    ...begin({ '.gitmodules': '[submodule "a"]\n\tpath = a\n\turl = b\n'.repeat(25_000), ...file('a') }),
    ...commit(file('b')),
  ],
  'a Markdown README': twice('- '.repeat(MEBIBYTE / 2), '[a]('.repeat(MEBIBYTE / 4)),
};

const queries: Record<string, readonly string[]> = {
  '/projects/:id/repository/tree': [
    'per_page=100',
    'recursive=true&per_page=100',
    'recursive=true&pagination=none',
  ],
  '/projects/:id/repository/commits': [
    'per_page=100',
    'per_page=100&with_stats=true&trailers=true',
    'per_page=100&all=true&order=topo',
    `per_page=100&path=${FILE}`,
    'per_page=100&author=a',
    'per_page=9',
  ],
  '/projects/:id/repository/commits/:sha': ['stats=true'],
  '/projects/:id/repository/commits/:sha/diff': ['per_page=100', 'per_page=100&unidiff=true'],
  '/projects/:id/repository/commits/:sha/refs': ['per_page=100'],
  '/projects/:id/repository/compare': [
    'from=before&to=main',
    'from=before&to=main&straight=true&unidiff=true',
    'from=main&to=before',
  ],
  '/projects/:id/repository/merge_base': ['refs[]=before&refs[]=main'],
  '/projects/:id/repository/branches': [
    'per_page=100',
    'per_page=100&search=b1',
    'per_page=100&regex=(a%2B)%2B%24',
    'per_page=100&sort=updated_desc',
  ],
  '/projects/:id/repository/tags': [
    'per_page=100',
    'per_page=100&search=t1',
    'per_page=100&order_by=version',
    'per_page=100&order_by=updated',
  ],
  '/projects/:id/repository/contributors': ['per_page=100', 'per_page=100&order_by=email'],
  '/projects/:id/search': ['blobs', 'commits', 'wiki_blobs'].map(
    (scope) => `scope=${scope}&search=a&per_page=100`,
  ),
  '/search': [],
};
const missing = ['statuses', 'submodule', 'tags/:tag_name', 'storage', 'registry', 'languages'];

/** Fills a project for each, and yields its requests. */
export async function* hostileReads({ app, site }: Watched, token: string): AsyncGenerator<WalkedRequest> {
  const { database, repositories: store } = app.services;
  const reads = app.endpoints.filter(
    ({ method, path }) =>
      method === 'GET' &&
      /^\/projects\/:id\/(repository|search|languages)/.test(path) &&
      !missing.some((part) => part !== 'languages' && path.includes(part)),
  );
  for (const [name, stream] of Object.entries(repositories)) {
    const { body } = await site.as(token)('POST /projects', {
      body: { name: `of ${name.replaceAll(' ', '-')}` },
    });
    const input = Buffer.concat(stream().map((piece) => Buffer.from(piece)));
    // Not as the program runs git, which would refuse some objects.
    await store.write(projectRepository(body.id), 'main', async ({ folder }) =>
      execFileSync('git', ['-C', folder, 'fast-import', '--quiet', '--force'], { input, stdio: 'pipe' }),
    );
    await database.sql`update projects set empty_repo = false, default_branch = 'main' where id = ${body.id}`;
    const blob = (
      await site.as(token)(`GET /projects/${body.id}/repository/files/${FILE}`, { query: 'ref=main' })
    ).body?.blob_id;
    yield {
      what: `POST /projects/:id/repository/commits to ${name}`,
      request: {
        line: `POST /api/v4/projects/${body.id}/repository/commits`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          branch: 'main',
          commit_message: 'Change',
          actions: [{ action: 'update', file_path: FILE, content: 'c' }],
        }),
      },
      writes: true,
    };
    for (const spec of reads) {
      const path = spec.path
        .replace(':id', body.id)
        .replace('blobs/:sha', `blobs/${blob}`)
        .replace(':sha', 'main')
        .replace(':branch', 'main')
        .replace(':file_path', FILE)
        .replace(':format', 'zip');
      if (path.includes(':')) continue;
      for (const query of queries[spec.path] ?? ['ref=main'])
        yield {
          what: `${titleOf(spec)}?${query} of ${name}`,
          request: { line: `GET /api/v4${path}?${query}`, headers: {} },
          writes: false,
        };
    }
  }
}
