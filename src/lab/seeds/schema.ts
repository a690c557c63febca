/** What a seed may say: the one description behind the check, the published JSON Schema and the tables of the documentation. */
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox';
import { resourceScopes, tokenScopes } from '../../domain/tokens/index.ts';
import type { Scope } from '../../kernel/actor.ts';
import { pathPattern } from '../../kernel/namespaces/paths.ts';
import { visibilityNames } from '../../kernel/policy/roles.ts';
import { date, dateTime, stringEnum } from '../../platform/http/parameters/schema.ts';

/** Bounds of lists and texts: beyond them a document is a mistake, or an attack. */
const MAX_ITEMS = 100_000;
const MAX_TEXT = 1_048_576;

const roles = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const;
export type Role = (typeof roles)[number];

const segment = pathPattern.slice(1, -1);

const text = (description: string, maxLength = MAX_TEXT) => Type.String({ maxLength, description });
const name = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });
const username = (description: string) => Type.String({ maxLength: 255, pattern: pathPattern, description });
const fullPath = (description: string) =>
  Type.String({ maxLength: 2_000, pattern: `^${segment}(?:/${segment})*$`, description });
const list = <T extends TSchema>(item: T, description: string) =>
  Type.Optional(Type.Array(item, { maxItems: MAX_ITEMS, description }));
const object = <P extends TProperties>(properties: P, description: string): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, description });
const map = <T extends TSchema>(value: T, description: string) =>
  Type.Optional(Type.Record(Type.String(), value, { description }));

const visibility = Type.Optional(stringEnum(visibilityNames, { description: '`private` unless given.' }));
const members = map(
  stringEnum(roles),
  'Usernames, each with a role. The first owner makes what is described; without one, root does.',
);
const labels = list(
  object(
    {
      name: name('What it is known by here.'),
      color: Type.Optional(
        Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', description: '`#428bca` unless given.' }),
      ),
      description: Type.Optional(text('What it is for.', 65_535)),
    },
    'A label.',
  ),
  'Labels.',
);
const milestones = list(
  object(
    {
      title: name('What it is known by here.'),
      description: Type.Optional(text('What it is about.')),
      start_date: Type.Optional(date({ description: 'Its first day.' })),
      due_date: Type.Optional(date({ description: 'Its last day.' })),
      state: Type.Optional(stringEnum(['active', 'closed'], { description: '`active` unless given.' })),
    },
    'A milestone.',
  ),
  'Milestones.',
);
const comments = list(
  object(
    {
      body: Type.String({ minLength: 1, maxLength: MAX_TEXT, description: 'Its text, in Markdown.' }),
      author: Type.Optional(username('`root` unless given.')),
      created_at: Type.Optional(dateTime({ description: 'Now unless given.' })),
      internal: Type.Optional(Type.Boolean({ description: 'For members alone.' })),
    },
    'A comment.',
  ),
  'Comments, oldest first.',
);
const noteable = {
  title: name('What it is known by here, unless it has an `iid`.'),
  iid: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Its number; the next one unless given.',
    }),
  ),
  description: Type.Optional(text('Markdown.')),
  author: Type.Optional(username('`root` unless given.')),
  labels: list(name('Of the project, or of a group above it.'), 'Names of labels.'),
  milestone: Type.Optional(name('The title of a milestone of the project, or of a group above it.')),
  assignees: list(username('A user.'), 'Usernames.'),
};

/** As it is sent in a header. */
const secretPattern = '^[\x21-\x7e]{8,255}$';
const value = Type.Optional(Type.String({ pattern: secretPattern, description: 'Its value, as given.' }));
const sha256 = Type.Optional(
  Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'The SHA-256 of its value, in its place: what is written out, since no value is kept.',
  }),
);
const scopesAmong = (scopes: readonly Scope[]) =>
  Type.Optional(
    Type.Array(stringEnum(scopes), { minItems: 1, maxItems: 100, description: '`api` unless given.' }),
  );
const expires_at = Type.Optional(
  date({ description: 'The day at whose start it ends; in a year unless given.' }),
);

const User = object(
  {
    username: username('What they are known by here.'),
    name: Type.Optional(name('The username unless given.')),
    email: Type.Optional(
      Type.String({ minLength: 3, maxLength: 254, description: '`USERNAME@example.com` unless given.' }),
    ),
    password: Type.Optional(
      Type.String({
        minLength: 8,
        maxLength: 128,
        description: 'To sign in by; nobody knows it unless given.',
      }),
    ),
    admin: Type.Optional(Type.Boolean({ description: 'An administrator.' })),
    external: Type.Optional(Type.Boolean({ description: 'Sees only what they are a member of.' })),
    state: Type.Optional(stringEnum(['active', 'blocked'], { description: '`active` unless given.' })),
    bio: Type.Optional(text('What they say of themselves.', 255)),
    tokens: list(
      object(
        {
          name: name('What it is known by here.'),
          value,
          sha256,
          scopes: scopesAmong(tokenScopes),
          expires_at,
        },
        'A personal access token, by its `value` or the `sha256` of that.',
      ),
      'Personal access tokens.',
    ),
  },
  'A person. `root` is there without being described.',
);

const Group = object(
  {
    path: fullPath('The full path: `acme`, `acme/backend`. The groups above it are described too.'),
    name: Type.Optional(name('The last part of the path unless given.')),
    description: Type.Optional(text('What it is for.', 500)),
    visibility,
    members,
    labels,
    milestones,
  },
  'A group.',
);

const FileContent = Type.Unsafe<
  null | string | { content?: string; base64?: string; executable?: boolean; symlink?: boolean }
>({
  description: 'Its text, or null where the commit removes it.',
  anyOf: [
    { type: 'null' },
    { type: 'string', maxLength: 16 * MAX_TEXT },
    object(
      {
        content: Type.Optional(text('Its text.', 16 * MAX_TEXT)),
        base64: Type.Optional(
          Type.String({
            maxLength: 24 * MAX_TEXT,
            pattern: '^[A-Za-z0-9+/]*={0,2}$',
            description: 'Its bytes, in place of a text.',
          }),
        ),
        executable: Type.Optional(Type.Boolean()),
        symlink: Type.Optional(Type.Boolean({ description: 'A link to the path that the content is.' })),
      },
      'A file with more to say of it.',
    ),
  ],
});

const files = map(
  FileContent,
  'Paths, each with a content: a text, or an object with `content` or `base64`.',
);
const person = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 512, description }));

const Commit = object(
  {
    id: Type.Optional(name('What `parents`, `branches` and `tags` call it.')),
    message: Type.String({ maxLength: MAX_TEXT, description: 'Its message.' }),
    author: person('A username, or `Name <address>`; `root` unless given.'),
    date: Type.Optional(
      dateTime({
        description: 'A minute after the commit before it unless given; the first is of 2026-01-01.',
      }),
    ),
    committer: person('As the author unless given.'),
    committed: Type.Optional(dateTime({ description: 'As the date unless given.' })),
    branch: Type.Optional(
      name(
        'The branch that it goes on, the default branch unless given. A new one starts where the default branch is.',
      ),
    ),
    parents: Type.Optional(
      Type.Array(name('An `id`.'), {
        maxItems: 16,
        description: "Ids of commits before it in the list; the branch's last commit unless given.",
      }),
    ),
    files,
  },
  'A commit.',
);

const Project = object(
  {
    path: fullPath('The full path: `acme/api`, `ann/notes`; one part alone is a project of root’s.'),
    name: Type.Optional(name('The last part of the path unless given.')),
    description: Type.Optional(text('What it is.', 2_000)),
    visibility,
    default_branch: Type.Optional(name('`main` unless given.')),
    members,
    labels,
    milestones,
    files: map(
      FileContent,
      'Paths, each with a content: the files of one first commit, before those of `commits`.',
    ),
    commits: list(Commit, 'The history, each commit after its parents.'),
    branches: map(
      name('The `id` of a commit, or a branch.'),
      'Branches, each with the commit that it is at. They count before what `branch` of the commits makes.',
    ),
    tags: map(
      Type.Unsafe<string | { target: string; message?: string; tagger?: string; date?: string }>({
        description: 'The `id` of a commit or a branch; with a message, an annotated tag.',
        anyOf: [
          { type: 'string', minLength: 1, maxLength: 255 },
          object(
            {
              target: name('The `id` of a commit, or a branch.'),
              message: Type.Optional(text('The message of an annotated tag.')),
              tagger: person('A username, or `Name <address>`; `root` unless given.'),
              date: Type.Optional(dateTime({ description: "The commit's unless given." })),
            },
            'A tag.',
          ),
        ],
      }),
      'Tags, each with its commit, or with an object of `target`, `message`, `tagger` and `date`.',
    ),
    issues: list(
      object(
        {
          ...noteable,
          state: Type.Optional(stringEnum(['opened', 'closed'], { description: '`opened` unless given.' })),
          type: Type.Optional(
            stringEnum(['issue', 'incident', 'task'], { description: '`issue` unless given.' }),
          ),
          confidential: Type.Optional(Type.Boolean({ description: 'For members alone.' })),
          due_date: Type.Optional(date({ description: 'The day by which it should be done.' })),
          created_at: Type.Optional(dateTime({ description: 'Now unless given.' })),
          comments,
        },
        'An issue.',
      ),
      'Issues.',
    ),
    merge_requests: list(
      object(
        {
          ...noteable,
          source_branch: name('A branch of the project.'),
          target_branch: Type.Optional(name('The default branch unless given.')),
          reviewers: list(username('A user.'), 'Usernames.'),
          state: Type.Optional(
            stringEnum(['opened', 'closed', 'merged'], {
              description: '`opened` unless given; one that is `merged` is merged after all else is there.',
            }),
          ),
          comments,
        },
        'A merge request.',
      ),
      'Merge requests.',
    ),
    pipelines: list(
      object(
        {
          ref: Type.Optional(name('A branch or tag; the default branch unless given.')),
          commit: Type.Optional(name('The `id` of a commit; where the ref is unless given.')),
          jobs: Type.Optional(
            Type.Record(
              Type.String(),
              stringEnum(['pending', 'running', 'success', 'failed', 'canceled', 'skipped']),
              {
                description:
                  'Names, each with a status, as other programs tell them. Without them the configuration of the repository says what runs.',
              },
            ),
          ),
        },
        'A pipeline; of each ref and commit there is one.',
      ),
      'Pipelines.',
    ),
    tokens: list(
      object(
        {
          name: name('What it is known by here.'),
          value,
          sha256,
          role: Type.Optional(stringEnum(roles, { description: '`maintainer` unless given.' })),
          scopes: scopesAmong(resourceScopes),
          expires_at,
        },
        'A project access token, by its `value` or the `sha256` of that.',
      ),
      'Project access tokens.',
    ),
  },
  'A project.',
);

const Application = object(
  {
    name: name('What it is known by here.'),
    id: Type.String({ pattern: secretPattern, description: 'Its `client_id`.' }),
    secret: Type.Optional(Type.String({ pattern: secretPattern, description: 'Its `client_secret`.' })),
    sha256,
    redirect_uris: Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), {
      minItems: 1,
      maxItems: 100,
      description: 'Where users come back to.',
    }),
    scopes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: 100,
        description: '`api` unless given.',
      }),
    ),
    confidential: Type.Optional(Type.Boolean({ description: 'True unless given: it keeps its secret.' })),
  },
  'An OAuth application of the instance, by its `secret` or the `sha256` of that.',
);

export const SeedDocument = Type.Object(
  {
    $schema: Type.Optional(text('The address of this schema, for editors.', 2_048)),
    users: list(User, 'People.'),
    groups: list(Group, 'Groups.'),
    projects: list(Project, 'Projects.'),
    applications: list(Application, 'OAuth applications of the instance.'),
  },
  { additionalProperties: false, title: 'A seed: a world that Ashlar has at its start' },
);
export type SeedDocument = Static<typeof SeedDocument>;

type Item<Name extends keyof SeedDocument> =
  NonNullable<SeedDocument[Name]> extends readonly (infer T)[] ? T : never;
export type SeedUser = Item<'users'>;
export type SeedGroup = Item<'groups'>;
export type SeedProject = Item<'projects'>;
export type SeedApplication = Item<'applications'>;
export type SeedCommit = NonNullable<SeedProject['commits']>[number];
export type SeedFile = Static<typeof FileContent>;
export type SeedIssue = NonNullable<SeedProject['issues']>[number];
export type SeedMergeRequest = NonNullable<SeedProject['merge_requests']>[number];
export type SeedPipeline = NonNullable<SeedProject['pipelines']>[number];

/** As it is published: editors find it by the first line of a document, or by `$schema`. */
export const seedSchemaText = (): string =>
  `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...SeedDocument }, null, 2)}\n`;
