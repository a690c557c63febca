/** Parameters and records of deploy keys (facts: Resource entities). */
import Type, { type Static } from 'typebox';
import { ProjectIdentity } from '../../kernel/namespaces/project-records.ts';
import { dateTime, nullable } from '../../platform/http/parameters/schema.ts';

const title = Type.String({ maxLength: 255, description: 'What the key is called.' });

export const NewDeployKey = Type.Object({
  title,
  key: Type.String({
    maxLength: 16_384,
    ruled: { format: 'ssh-public-key' },
    description: 'The public key, in one line.',
  }),
  expires_at: Type.Optional(nullable(dateTime({ description: 'When the key stops working.' }))),
});
export type NewDeployKey = Static<typeof NewDeployKey>;

export const canPush = {
  can_push: Type.Optional(Type.Boolean({ description: 'Whether the key may push: not unless told.' })),
};
export const keyId = { key_id: Type.Integer() };

export const ChangeDeployKey = Type.Object({ ...keyId, title: Type.Optional(title), ...canPush });
export type ChangeDeployKey = Static<typeof ChangeDeployKey>;

export const DeployKey = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  created_at: Type.String(),
  expires_at: nullable(Type.String()),
  last_used_at: nullable(Type.String()),
  key: Type.String(),
  usage_type: Type.String(),
  fingerprint: Type.String(),
  fingerprint_sha256: Type.String(),
});
export type DeployKey = Static<typeof DeployKey>;

/** A project's key. */
export const ProjectDeployKey = Type.Object({ ...DeployKey.properties, can_push: Type.Boolean() });
export type ProjectDeployKey = Static<typeof ProjectDeployKey>;

/** A key for administrators, with its projects. */
export const InstanceDeployKey = Type.Object({
  ...DeployKey.properties,
  projects_with_write_access: Type.Array(ProjectIdentity),
  projects_with_readonly_access: Type.Array(ProjectIdentity),
});
export type InstanceDeployKey = Static<typeof InstanceDeployKey>;
