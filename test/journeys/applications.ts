/** Applications of the instance, registered through the REST API, and root signed in before the forms: OAuth journeys. */
import { afterAll, beforeAll } from 'vitest';
import { meetPerson, type Person } from './person.ts';
import { cleanUp, type Program, ROOT_PASSWORD, startProgram } from './support.ts';

export const CALLBACK = 'http://127.0.0.1:8123/callback';

export type Application = { id: string; secret: string };

/** Registers an application; its public id and its secret. Throws when that is refused. */
export async function register(
  program: Program,
  name: string,
  options: { scopes?: string; confidential?: boolean } = {},
): Promise<Application> {
  const { scopes = 'api read_user openid profile email', confidential = true } = options;
  const application = { name, redirect_uri: CALLBACK, scopes, confidential };
  const response = await program.root('POST /applications', application);
  if (response.status !== 201) throw new Error(`not registered: ${response.status} ${await response.text()}`);
  const { application_id: id, secret } = (await response.json()) as {
    application_id: string;
    secret: string;
  };
  return { id, secret };
}

/** Starts the program for the tests of a file, with root signed in. */
export function useProvider(env: Record<string, string> = {}): {
  readonly program: Program;
  readonly person: Person;
} {
  let program: Program | undefined;
  const running = (): Program => {
    if (!program) throw new Error('the program has not started');
    return program;
  };
  const person = meetPerson(() => running().url);
  beforeAll(async () => {
    program = await startProgram({ env });
    await person.signIn('root', ROOT_PASSWORD);
  });
  afterAll(() => cleanUp());
  return {
    get program() {
      return running();
    },
    person,
  };
}

/** The status of the API's response to a token. */
export async function statusOf(program: Program, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${program.url}/api/v4/user`, { headers })).status;
}
