/** External status checks in requests and responses (facts-merge-requests: 1.1). */
import Type, { type Static } from 'typebox';
import {
  commaList,
  integerId,
  notBlank,
  nullable,
  stringEnum,
} from '../../../platform/http/parameters/schema.ts';
import { webAddress } from '../../../platform/http/web-address.ts';
import { ProtectedBranch } from '../../repositories/index.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { MergeRequestBasicRecord } from '../records/merge-request-records.ts';
import { responseStatuses } from './rules.ts';

/** Of one check. */
const MAX_BRANCHES = 20;

const name = Type.String({ ...notBlank, maxLength: 255 });
const external_url = Type.String({ maxLength: 255, ...webAddress });
const rest = {
  shared_secret: Type.Optional(
    nullable(Type.String({ maxLength: 255, description: 'Signs the requests; none, where it is empty.' })),
  ),
  protected_branch_ids: Type.Optional(
    commaList(Type.Integer({ minimum: 0 }), {
      maxItems: MAX_BRANCHES,
      description: 'The branches that the check is for; all where none is named.',
    }),
  ),
};

export const CreateCheck = Type.Object({ name, external_url, ...rest });
export type CreateCheck = Static<typeof CreateCheck>;
export type CheckChanges = Partial<CreateCheck>;

const one = { check_id: integerId() };
export const OneCheck = Type.Object(one);
export const UpdateCheck = Type.Object({
  ...one,
  name: Type.Optional(name),
  external_url: Type.Optional(external_url),
  ...rest,
});

export const CheckRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  project_id: Type.Integer(),
  external_url: Type.String(),
  hmac: Type.Boolean({ description: 'Whether requests to it are signed.' }),
  protected_branches: Type.Array(ProtectedBranch),
});
export type CheckRecord = Static<typeof CheckRecord>;

export const StatusRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  external_url: Type.String(),
  status: stringEnum(responseStatuses),
});

export const RespondInput = Type.Object({
  ...OneMergeRequest.properties,
  external_status_check_id: integerId(),
  sha: Type.String({ maxLength: 64, description: 'The newest commit of the merge request.' }),
  status: stringEnum(responseStatuses),
});
export const RetryInput = Type.Object({
  ...OneMergeRequest.properties,
  external_status_check_id: integerId(),
});

export const ResponseRecord = Type.Object({
  id: Type.Integer(),
  merge_request: MergeRequestBasicRecord,
  external_status_check: CheckRecord,
});
