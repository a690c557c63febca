/** Parameters and records of mirrors (facts: PullMirror, RemoteMirror, Import status). */
import Type, { type Static } from 'typebox';
import { deprecated, integerId, nullable, stringEnum } from '../../platform/http/parameters/schema.ts';
import { statuses } from './rules.ts';

const url = Type.String({
  maxLength: 2_048,
  ruled: { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  description: 'By http or https, with the name and password where they are needed.',
});
const regex = Type.Optional(
  nullable(Type.String({ maxLength: 255, description: 'The branches that are mirrored, as RE2 has it.' })),
);
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const time = nullable(Type.String());

const shared = {
  id: Type.Integer(),
  enabled: Type.Boolean(),
  url: Type.String({ description: 'With asterisks in the place of a name and password.' }),
  update_status: stringEnum(statuses),
  last_update_at: time,
  last_update_started_at: time,
  last_successful_update_at: time,
  last_error: nullable(Type.String()),
  mirror_branch_regex: nullable(Type.String()),
};

export const PullMirror = Type.Object({
  ...shared,
  mirror_trigger_builds: Type.Boolean(),
  only_mirror_protected_branches: nullable(Type.Boolean()),
  mirror_overwrites_diverged_branches: nullable(Type.Boolean()),
});
export type PullMirror = Static<typeof PullMirror>;

const pullOptions = {
  mirror_trigger_builds: flag('Whether what is pulled starts pipelines.'),
  only_mirror_protected_branches: flag('Whether only protected branches are pulled.'),
  mirror_overwrites_diverged_branches: flag('Whether branches that went other ways here are overwritten.'),
  mirror_branch_regex: regex,
};

/** What requests and records of projects have of it, which is deprecated (spec: Versioning, Deprecations). */
export const PULL_MIRROR = '/projects/:id/mirror/pull';
export const deprecatedPullOptions = {
  mirror_trigger_builds: Type.Optional(deprecated(Type.Boolean(), PULL_MIRROR)),
  only_mirror_protected_branches: Type.Optional(deprecated(Type.Boolean(), PULL_MIRROR)),
  mirror_overwrites_diverged_branches: Type.Optional(deprecated(Type.Boolean(), PULL_MIRROR)),
  mirror_branch_regex: Type.Optional(deprecated(nullable(Type.String({ maxLength: 255 })), PULL_MIRROR)),
};

export const SetPullMirror = Type.Object({
  enabled: flag('False ends the mirroring.'),
  url: Type.Optional(url),
  auth_user: Type.Optional(Type.String({ maxLength: 255 })),
  auth_password: Type.Optional(Type.String({ maxLength: 1_024, writeOnly: true })),
  ...pullOptions,
});
export type SetPullMirror = Static<typeof SetPullMirror>;

export const RemoteMirror = Type.Object({
  ...shared,
  only_protected_branches: Type.Boolean(),
  keep_divergent_refs: Type.Boolean(),
  auth_method: stringEnum(['password', 'ssh_public_key']),
  host_keys: Type.Array(Type.Object({ fingerprint_sha256: Type.String() })),
});
export type RemoteMirror = Static<typeof RemoteMirror>;

const pushOptions = {
  enabled: flag('Whether pushes to the project go on to it; false unless told.'),
  auth_method: Type.Optional(
    stringEnum(['password', 'ssh_public_key'], { description: 'Only `password` is supported.' }),
  ),
  keep_divergent_refs: flag('Whether what went other ways there stays.'),
  only_protected_branches: flag('Whether only protected branches are pushed.'),
  mirror_branch_regex: regex,
};

export const CreateRemoteMirror = Type.Object({ url, ...pushOptions });
export type CreateRemoteMirror = Static<typeof CreateRemoteMirror>;

const one = { mirror_id: integerId() };
export const OneRemoteMirror = Type.Object(one);
export const UpdateRemoteMirror = Type.Object({ ...one, ...pushOptions });
export type PushChanges = Omit<Static<typeof UpdateRemoteMirror>, 'mirror_id'>;
