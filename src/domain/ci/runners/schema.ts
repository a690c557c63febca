/** Runners in requests and responses (facts: Runner, Runner manager, Runner registration). */
import Type from 'typebox';
import { BasicGroupDetails } from '../../../kernel/namespaces/group-records.ts';
import { BasicProject } from '../../../kernel/namespaces/project-records.ts';
import { UserBasic } from '../../../kernel/users/records.ts';
import {
  atLeastOne,
  atMostOne,
  commaList,
  dateTime,
  deprecated,
  integerId,
  nullable,
  parameterRules,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { accessLevels, MAX_TAGS, MIN_TIMEOUT, runnerStatuses, runnerTypes } from './rules.ts';

const text = (maxLength: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength, description })));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const fields = {
  description: text(1_024, 'What it is called.'),
  maintenance_note: text(1_024, 'What is to be known about its maintenance.'),
  paused: flag('It gets no jobs.'),
  locked: flag('No further project may have it.'),
  run_untagged: flag('It takes jobs without tags, too; otherwise it needs a tag.'),
  tag_list: Type.Optional(
    commaList(Type.String({ maxLength: 255 }), {
      ruled: { maxItems: MAX_TAGS },
      description: 'It takes jobs all of whose tags are among these.',
    }),
  ),
  access_level: Type.Optional(
    stringEnum(accessLevels, { description: 'Whether it takes jobs of protected refs only.' }),
  ),
  maximum_timeout: Type.Optional(
    nullable(
      Type.Integer({
        maximum: 2_147_483_647,
        ruled: { minimum: MIN_TIMEOUT },
        description: 'Seconds that a job may take.',
      }),
    ),
  ),
};
/** The old name of what is not paused. */
const active = Type.Optional(deprecated(Type.Boolean(), 'paused, which says the opposite'));

export const CreateInput = Type.Object(
  {
    runner_type: stringEnum(runnerTypes),
    group_id: Type.Optional(integerId({ description: 'The group, of a runner of one.' })),
    project_id: Type.Optional(integerId({ description: 'The project that owns a runner of projects.' })),
    ...fields,
  },
  parameterRules(atMostOne('group_id', 'project_id')),
);

const word = Type.Optional(Type.String({ maxLength: 255 }));
const info = Type.Optional(
  Type.Object(
    {
      name: word,
      version: word,
      revision: word,
      platform: word,
      architecture: word,
      executor: word,
      features: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      config: Type.Optional(Type.Object({ gpus: word })),
    },
    { description: 'What the program says of itself.' },
  ),
);
const token = Type.Optional(
  Type.String({ maxLength: 255, description: 'The token, if not in the header `RUNNER-TOKEN`.' }),
);
const systemId = Type.String({ minLength: 1, maxLength: 64, description: 'The name of the process.' });

export const RegisterInput = Type.Object(
  {
    token,
    info,
    active,
    maintainer_note: text(1_024, 'The old name of `maintenance_note`.'),
    ...fields,
  },
  parameterRules(atMostOne('maintainer_note', 'maintenance_note'), atMostOne('active', 'paused')),
);
export const TokenInput = Type.Object({ token });
export const VerifyInput = Type.Object({ token, system_id: Type.Optional(systemId), info });
export const ManagerInput = Type.Object({ token, system_id: systemId });

export const OneInput = Type.Object({
  id: integerId(),
  include_projects: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether `projects` is there.' }),
  ),
});
export const UpdateInput = Type.Object(
  { id: integerId(), active, ...fields },
  parameterRules(
    atLeastOne([
      ...['description', 'active', 'paused', 'tag_list', 'run_untagged', 'locked', 'access_level'],
      ...['maximum_timeout', 'maintenance_note'],
    ]),
    atMostOne('active', 'paused'),
  ),
);
export const AssignmentInput = Type.Object({ runner_id: integerId() });

export const listWords = ['active', 'paused', ...runnerStatuses] as const;
const scopes = ['specific', 'shared', ...runnerTypes, ...listWords] as const;
export const isScope = (scope: string): boolean => scopes.some((each) => each === scope);

const filters = {
  type: Type.Optional(stringEnum(runnerTypes)),
  paused: Type.Optional(Type.Boolean()),
  status: Type.Optional(stringEnum(listWords)),
  tag_list: Type.Optional(
    commaList(Type.String({ maxLength: 255 }), {
      maxItems: MAX_TAGS,
      description: 'Those with all these tags.',
    }),
  ),
  version_prefix: Type.Optional(
    Type.String({
      maxLength: 255,
      pattern: '^[\\d.]+$',
      description: 'Those with a manager whose version begins so.',
    }),
  ),
};
export const ListInput = Type.Object(filters);
export const ScopedListInput = Type.Object({
  ...filters,
  scope: Type.Optional(
    Type.String({ ruled: { enum: [...scopes] }, description: 'The old words of `type` and `status`.' }),
  ),
});

const runner = {
  id: Type.Integer(),
  description: nullable(Type.String()),
  ip_address: deprecated(Type.Literal(''), 'the addresses of its managers'),
  active: deprecated(Type.Boolean(), 'paused, which says the opposite'),
  paused: Type.Boolean(),
  is_shared: Type.Boolean(),
  runner_type: stringEnum(runnerTypes),
  name: nullable(Type.String()),
  online: nullable(Type.Boolean()),
  created_by: nullable(UserBasic),
  created_at: dateTime(),
  status: stringEnum(runnerStatuses),
  job_execution_status: stringEnum(['idle', 'active']),
};
const program = {
  version: nullable(Type.String()),
  revision: nullable(Type.String()),
  platform: nullable(Type.String()),
  architecture: nullable(Type.String()),
  contacted_at: nullable(dateTime()),
};

export const Runner = Type.Object(runner);
export const RunnerDetails = Type.Object({
  ...runner,
  ...program,
  tag_list: Type.Array(Type.String()),
  run_untagged: Type.Boolean(),
  locked: Type.Boolean(),
  maximum_timeout: nullable(Type.Integer()),
  access_level: stringEnum(accessLevels),
  maintenance_note: nullable(Type.String()),
  projects: Type.Optional(
    Type.Array(BasicProject, { description: 'The first hundred that the caller sees, the owner first.' }),
  ),
  groups: Type.Array(BasicGroupDetails),
});
export const RunnerManager = Type.Object({
  id: Type.Integer(),
  system_id: Type.String(),
  ...program,
  created_at: dateTime(),
  ip_address: Type.String(),
  status: stringEnum(runnerStatuses),
  job_execution_status: stringEnum(['idle', 'active']),
});

const tokenRecord = { token: Type.String(), token_expires_at: nullable(dateTime()) };
export const TokenRecord = Type.Object(tokenRecord);
export const Registration = Type.Object({ id: Type.Integer(), ...tokenRecord });
/** Where a router would be; there is none. */
export const Discovery = Type.Object({ server_url: Type.String() });
