/** The caller of a request, complete at the end of authentication (spec: Authentication). */

/** Every scope a token can have (facts: OAuth 2.0 / OIDC, tokens). */
export const scopeNames = [
  'api',
  'read_api',
  'read_user',
  'create_runner',
  'manage_runner',
  'k8s_proxy',
  'self_rotate',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'read_virtual_registry',
  'write_virtual_registry',
  'read_observability',
  'write_observability',
  'ai_features',
  'ai_workflows',
  'mcp',
  'sudo',
  'admin_mode',
  'read_service_ping',
  'openid',
  'profile',
  'email',
] as const;
export type Scope = (typeof scopeNames)[number];

/** Scopes that only an administrator can grant to a token or application. */
export const adminScopes: readonly string[] = ['sudo', 'admin_mode', 'read_service_ping'] satisfies Scope[];

export type TokenKind = 'personal' | 'impersonation' | 'project' | 'group' | 'oauth' | 'job';

export type Credential =
  | { via: 'token'; tokenId: number; kind: Exclude<TokenKind, 'job'>; scopes: readonly string[] }
  /** The token of a CI job of the project, while it runs. */
  | { via: 'job'; tokenId: number; projectId: number }
  | { via: 'session'; sessionId: number }
  /** A password sent with every request, as git does. */
  | { via: 'password' };

/** Users of the program itself: no sign-in, change or deletion. */
export const internalKinds = ['ghost', 'alert_bot'] as const;
export type InternalKind = (typeof internalKinds)[number];
export const isInternal = (kind: string): boolean => internalKinds.some((each) => each === kind);

/** Users behind the tokens of one project or group. */
export const isTokenBot = (kind: string): boolean => kind === 'project_bot' || kind === 'group_bot';
/** Users who are members where they are wanted: people, and the accounts of programs. */
export const joinsFreely = (kind: string): boolean => kind === 'human' || kind === 'service_account';

export type Actor = {
  id: number;
  username: string;
  name: string;
  /** The address of commits in the actor's name. */
  commitEmail: string;
  /** Whether administrators' rights apply to this request. */
  admin: boolean;
  /** They apply in admin mode, while the instance demands that (setting `admin_mode`). */
  adminMode?: true;
  auditor: boolean;
  external: boolean;
  kind: 'human' | 'project_bot' | 'group_bot' | 'service_account' | InternalKind;
  credential: Credential;
  /** The administrator who runs this request as the actor (spec: Sudo). */
  sudoBy?: { id: number; username: string };
  /** The chain of events that the request belongs to, where a webhook set it off (facts-merge-requests: 10.2). */
  eventChain?: string;
};

/** Who an announcement names. */
export type Author = Pick<Actor, 'id' | 'username' | 'name' | 'adminMode' | 'sudoBy' | 'eventChain'>;

/** The columns of a user that an actor is made of. `admin` is not the user's, but what counts of it (`identity/admin-mode.ts`). */
export type ActorColumns = Pick<
  Actor,
  'id' | 'username' | 'name' | 'kind' | 'admin' | 'adminMode' | 'auditor' | 'external'
> & { email: string; commit_email: string | null };

export const actorColumns = [
  ...(['id', 'username', 'name', 'email', 'commit_email'] as const),
  ...(['kind', 'admin', 'auditor', 'external'] as const),
] as const satisfies (keyof ActorColumns)[];

export const toActor = (user: ActorColumns, credential: Credential): Actor => ({
  id: user.id,
  username: user.username,
  name: user.name,
  commitEmail: user.commit_email || user.email,
  admin: user.admin,
  ...(user.adminMode && { adminMode: true }),
  auditor: user.auditor,
  external: user.external,
  kind: user.kind,
  credential,
});

/** Undefined without credentials: only public data is returned. */
export type Caller = Actor | undefined;

/** The token that a CI job acts by, and its project; undefined for other callers. */
export const jobCredentialOf = (caller: Caller): { tokenId: number; projectId: number } | undefined =>
  caller?.credential.via === 'job' ? caller.credential : undefined;
