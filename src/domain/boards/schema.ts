/** Parameters and records of issue boards and their lists (facts: 2.4, 2.6). */
import Type, { type Static } from 'typebox';
import { BasicGroupDetails } from '../../kernel/namespaces/group-records.ts';
import { BasicProject } from '../../kernel/namespaces/project-records.ts';
import { UserBasic } from '../../kernel/users/records.ts';
import {
  commaList,
  exactlyOne,
  integerId,
  notBlank,
  nullable,
  parameterRules,
} from '../../platform/http/parameters/schema.ts';
import { LabelBasicRecord, MilestoneRecord } from '../planning/index.ts';
import { MAX_SCOPE_LABELS, MAX_WEIGHT } from './rules.ts';

const name = Type.String({ maxLength: 255, ...notBlank });
const board = { board_id: integerId() };
const list = { ...board, list_id: integerId() };
const noneIsZero = (description: string) =>
  Type.Optional(nullable(Type.Integer({ minimum: 0, description: `${description}; 0 for none. Premium.` })));

export const OneInput = Type.Object(board);
export const CreateInput = Type.Object({ name });
export const UpdateInput = Type.Object({
  ...board,
  name: Type.Optional(name),
  hide_backlog_list: Type.Optional(
    Type.Boolean({ description: 'Whether the list of open issues is hidden.' }),
  ),
  hide_closed_list: Type.Optional(
    Type.Boolean({ description: 'Whether the list of closed issues is hidden.' }),
  ),
  assignee_id: noneIsZero('The only assignee whose issues the board has'),
  milestone_id: noneIsZero('The only milestone whose issues the board has'),
  labels: Type.Optional(
    commaList(Type.String(), {
      maxItems: MAX_SCOPE_LABELS,
      description: 'The labels that the issues of the board have. Premium.',
    }),
  ),
  weight: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: MAX_WEIGHT,
        description: 'The only weight of its issues. Premium.',
      }),
    ),
  ),
});
export type BoardChanges = Omit<Static<typeof UpdateInput>, 'board_id'>;

export const OneListInput = Type.Object(list);
export const ListsInput = Type.Object(board);
export const CreateListInput = Type.Object(
  {
    ...board,
    label_id: Type.Optional(integerId()),
    assignee_id: Type.Optional(integerId({ description: 'Premium.' })),
    milestone_id: Type.Optional(integerId({ description: 'Premium.' })),
    iteration_id: Type.Optional(integerId({ description: 'Premium.' })),
  },
  parameterRules(exactlyOne('label_id', 'assignee_id', 'milestone_id', 'iteration_id')),
);
export type NewList = Omit<Static<typeof CreateListInput>, 'board_id'>;
export const MoveListInput = Type.Object({
  ...list,
  position: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Among the lists, from 0.' }),
});

export const ListRecord = Type.Object({
  id: Type.Integer(),
  label: nullable(LabelBasicRecord),
  assignee: Type.Optional(UserBasic),
  milestone: Type.Optional(MilestoneRecord),
  position: Type.Integer(),
  max_issue_count: Type.Optional(Type.Integer({ description: 'Premium; 0 is no limit.' })),
  max_issue_weight: Type.Optional(Type.Integer({ description: 'Premium; 0 is no limit.' })),
  limit_metric: Type.Optional(nullable(Type.String({ description: 'Premium.' }))),
});
export type ListRecord = Static<typeof ListRecord>;

export const BoardRecord = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  hide_backlog_list: Type.Boolean(),
  hide_closed_list: Type.Boolean(),
  project: nullable(BasicProject),
  lists: Type.Array(ListRecord),
  group: nullable(BasicGroupDetails),
  milestone: Type.Optional(nullable(MilestoneRecord)),
  assignee: Type.Optional(nullable(UserBasic)),
  labels: Type.Optional(Type.Array(LabelBasicRecord)),
  weight: Type.Optional(nullable(Type.Integer())),
});
export type BoardRecord = Static<typeof BoardRecord>;
