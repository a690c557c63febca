/** The program with @gitbeaker/rest in front of it: the setup of its journeys. */
import { GitbeakerRequestError, Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll } from 'vitest';
import { cleanUp, type Program, ROOT_TOKEN, startProgram } from './support.ts';

export type Client = InstanceType<typeof Gitlab<false>>;

type GroupOptions = {
  description?: string;
  visibility?: 'public';
  parentId?: number;
  projectCreationLevel?: 'developer';
};

/** Starts the program for the tests of a file; `root` is the client of the first administrator. */
export function useGitbeaker(start: () => Promise<Program> = startProgram) {
  let root: Client | undefined;
  const journey = {
    url: '',
    get root(): Client {
      root ??= journey.connect(ROOT_TOKEN);
      return root;
    },
    connect: (token: string): Client => new Gitlab({ host: journey.url, token }),
    /** A confirmed user with a personal access token, and the client that uses it. */
    async makeUser(username: string): Promise<{ id: number; username: string; token: string; api: Client }> {
      const { id } = await journey.root.Users.create({
        username,
        name: `The ${username}`,
        email: `${username}@example.com`,
        password: 'correct horse battery staple',
        skipConfirmation: true,
      });
      const { token } = await journey.root.Users.createPersonalAccessToken(id, 'journey', ['api']);
      return { id, username, token: String(token), api: journey.connect(String(token)) };
    },
    /** A private group of root's, named as its path. */
    makeGroup: (path: string, options: GroupOptions = {}) =>
      journey.root.Groups.create<false>(path, path, { visibility: 'private', ...options }),
  };
  beforeAll(async () => {
    journey.url = (await start()).url;
  });
  afterAll(() => cleanUp());
  return journey;
}

/** The status and the text of a refusal, as the client reports them; throws when there was none. */
export async function refusal(request: Promise<unknown>): Promise<[status: number, text: string]> {
  const error = await request.then(
    (response) => new Error(`not refused: ${JSON.stringify(response)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof GitbeakerRequestError) || !error.cause) throw error;
  return [error.cause.response.status, error.cause.description];
}

export const ids = (records: readonly { id: number }[]): number[] => records.map(({ id }) => id);

/** A date, as the API takes it, so many days from today. */
export const inDays = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** A picture of one pixel. */
export const picture = new Blob([
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
]);

/** The wait for background jobs. */
export const soon = { timeout: 20_000 };
