/** Feature flags for the programs that obey them: the protocol of Unleash's clients (facts for CI: Feature flags). */
import Type, { type Static } from 'typebox';
import { anyone, onProject } from '../../kernel/access/access.ts';
import { type AuthorizedProject, reachProject } from '../../kernel/access/find.ts';
import { type Endpoint, endpoint, noContent, Reply } from '../../kernel/api/endpoint.ts';
import type { Needs } from '../../kernel/services.ts';
import { forbidden, unauthenticated } from '../../platform/failure.ts';
import { holdForRequest } from '../../platform/fair-share.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { integerId } from '../../platform/http/parameters/schema.ts';
import { resetClientToken } from './actions.ts';
import { type ClientFeature, clientToken, featuresOf, isClientToken } from './client-rules.ts';
import { loadUserLists, readStrategies } from './present.ts';
import { selectAllFlags, selectGeneration } from './queries.ts';

const Client = Type.Object({
  api_url: Type.String({ description: 'The address for a client of Unleash.' }),
  instance_id: Type.String({ description: 'Its token, which clients send as UNLEASH-INSTANCEID.' }),
});

const path = '/feature_flags/unleash/:project_id';

const ClientInput = Type.Object({
  project_id: integerId(),
  instance_id: Type.Optional(
    Type.String({ maxLength: 255, description: 'Or the header UNLEASH-INSTANCEID.' }),
  ),
  app_name: Type.Optional(
    Type.String({ maxLength: 255, description: 'The environment; or the header UNLEASH-APPNAME.' }),
  ),
});
type ClientInput = Static<typeof ClientInput>;

const Features = Type.Object({
  version: Type.Literal(1),
  features: Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      enabled: Type.Boolean(),
      strategies: Type.Array(
        Type.Object({ name: Type.String(), parameters: Type.Record(Type.String(), Type.String()) }),
      ),
    }),
  ),
});

type ClientCall = { services: Needs<'database' | 'secretKey'>; input: ClientInput; request: HttpRequest };

const header = (request: HttpRequest, name: string): string => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
};

/** The project whose program calls. 401 for another token, 403 where the project has no flags. */
async function projectOfClient({ services, input, request }: ClientCall): Promise<AuthorizedProject> {
  const { database, secretKey } = services;
  const presented = input.instance_id ?? header(request, 'unleash-instanceid');
  const generation = await selectGeneration(database.points, input.project_id);
  if (!isClientToken(secretKey, { projectId: input.project_id, generation }, presented))
    throw unauthenticated();
  const project = await reachProject(database.points, input.project_id);
  if (!project) throw unauthenticated();
  if (!project.may('read_feature_flags')) throw forbidden();
  return project;
}

/** An answer repeats a list for each strategy that goes by it: each counts to what the caller holds. 429 for too many. */
function holdUsers(features: readonly ClientFeature[]): void {
  for (const { strategies } of features)
    for (const { parameters } of strategies) holdForRequest(parameters.userIds?.length ?? 0);
}

const readFeatures = (method: string): Endpoint =>
  endpoint({
    method: 'GET',
    path: `${path}${method}`,
    summary: 'The flags of an environment, for a client of Unleash.',
    access: anyone,
    ownCredential: true,
    input: ClientInput,
    reply: Features,
    handle: async (context) => {
      const { input, request } = context;
      const project = await projectOfClient(context);
      const rows = await selectAllFlags(context.db, project);
      const lists = await loadUserLists(context.db, project, rows);
      const flags = rows.map((row) => ({ ...row, strategies: readStrategies(row) }));
      const environment = input.app_name ?? header(request, 'unleash-appname');
      const features = featuresOf(flags, lists, environment);
      holdUsers(features);
      return { version: 1 as const, features };
    },
  });

/** Clients tell of themselves and of their counts: both are heard, and not kept. */
const hear = (method: 'GET' | 'POST', below: string, summary: string): Endpoint =>
  endpoint({
    method,
    path: `${path}${below}`,
    summary,
    access: anyone,
    ownCredential: true,
    wakesItself: true,
    status: 200,
    input: ClientInput,
    reply: noContent,
    handle: async (context) => {
      await projectOfClient(context);
      return null;
    },
  });

const presentClient = (
  services: Needs<'secretKey' | 'baseUrl'>,
  client: { projectId: number; generation: number },
): Static<typeof Client> => ({
  api_url: `${services.baseUrl()}/api/v4/feature_flags/unleash/${client.projectId}`,
  instance_id: clientToken(services.secretKey, client),
});

export const featureFlagClientEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/feature_flags_client',
    summary: "What a client of Unleash is given to read a project's flags.",
    access: onProject('manage_feature_flags'),
    reply: Client,
    handle: async ({ services, subject: { id: projectId } }) =>
      presentClient(services, {
        projectId,
        generation: await selectGeneration(services.database.points, projectId),
      }),
  }),
  endpoint({
    method: 'POST',
    path: '/projects/:id/feature_flags_client/reset_token',
    summary: 'Gives the clients of a project another token; the one before is of no use from now on.',
    access: onProject('reset_feature_flag_client'),
    reply: Client,
    handle: async ({ db, services, actor, subject }) => {
      const generation = await resetClientToken(db, actor, subject);
      return new Reply(201, presentClient(services, { projectId: subject.id, generation }));
    },
  }),
  hear('GET', '', 'Whether the token is that of a client of Unleash.'),
  readFeatures('/features'),
  readFeatures('/client/features'),
  hear('POST', '/client/register', 'Hears that a client of Unleash has started.'),
  hear('POST', '/client/metrics', 'Hears how often a client of Unleash was asked for which flag.'),
];
