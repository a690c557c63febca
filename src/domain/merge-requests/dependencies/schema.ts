/** Dependencies of merge requests in requests and responses (facts-merge-requests: 1.1). */
import Type, { type Static } from 'typebox';
import { exactlyOne, integerId, parameterRules } from '../../../platform/http/parameters/schema.ts';
import { OneMergeRequest } from '../changes/schema.ts';
import { MergeRequestBasicRecord } from '../records/merge-request-records.ts';

export const OneBlock = Type.Object({ ...OneMergeRequest.properties, block_id: integerId() });

export const CreateBlock = Type.Object(
  {
    ...OneMergeRequest.properties,
    blocking_merge_request_id: Type.Optional(integerId({ description: 'By its id.' })),
    blocking_merge_request_iid: Type.Optional(integerId({ description: 'By its number in its project.' })),
    blocking_project_id: Type.Optional(
      Type.String({ description: 'The project of that number, by its id or path; this one without it.' }),
    ),
  },
  parameterRules(exactlyOne('blocking_merge_request_id', 'blocking_merge_request_iid')),
);
export type CreateBlock = Static<typeof CreateBlock>;

/** Absent where the caller does not see it. */
const seen = Type.Optional(MergeRequestBasicRecord);

export const DependencyRecord = Type.Object({
  id: Type.Integer(),
  blocking_merge_request: seen,
  blocked_merge_request: seen,
  project_id: Type.Integer({ description: 'Of the blocked one.' }),
});
export type DependencyRecord = Static<typeof DependencyRecord>;
