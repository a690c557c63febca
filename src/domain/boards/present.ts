/** Boards and lists as records. */
import { isProject, type ResourceParent } from '../../kernel/access/resource-parents.ts';
import type { Actor } from '../../kernel/actor.ts';
import { presentBasicGroup } from '../../kernel/namespaces/group-records.ts';
import { presentBasicProject } from '../../kernel/namespaces/project-records.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { presentUserBasic } from '../../kernel/users/records.ts';
import { holdForRequest } from '../../platform/fair-share.ts';
import {
  type LabelBasicRecord,
  type LabelRow,
  type MilestoneWithPath,
  presentLabelBasic,
  presentMilestone,
} from '../planning/index.ts';
import type { List, WholeBoard } from './queries.ts';
import type { BoardRecord, ListRecord } from './schema.ts';

export type ViewContext = {
  services: Needs<'baseUrl' | 'config'>;
  settings: ApplicationSettings;
  actor: Actor;
  subject: ResourceParent;
};

const around = ({ services, settings }: ViewContext) => ({ baseUrl: services.baseUrl(), settings });

/**
 * Each once: boards share labels, whose descriptions may be long and are escaped. An answer repeats them, so that each counts
 * to what the caller holds.
 */
const labelRecords = new WeakMap<LabelRow, LabelBasicRecord>();

function labelRecord(label: LabelRow): LabelBasicRecord {
  const known = labelRecords.get(label) ?? presentLabelBasic(label);
  labelRecords.set(label, known);
  holdForRequest((known.description?.length ?? 0) + known.description_html.length);
  return known;
}

function milestoneRecord(context: ViewContext, milestone: MilestoneWithPath) {
  holdForRequest(milestone.description?.length ?? 0);
  return presentMilestone(milestone, { ...around(context), fullPath: milestone.full_path });
}

export const presentList = (
  context: ViewContext,
  { id, label, assignee, milestone, position }: List,
): ListRecord => ({
  id,
  label: label ? labelRecord(label) : null,
  ...(assignee && { assignee: presentUserBasic(around(context), assignee) }),
  ...(milestone && { milestone: milestoneRecord(context, milestone) }),
  position,
  ...(context.services.config.tier !== 'free' && {
    max_issue_count: 0,
    max_issue_weight: 0,
    limit_metric: null,
  }),
});

export const presentBoard = (
  context: ViewContext,
  { row, lists, labels, assignee, milestone }: WholeBoard,
): BoardRecord => {
  const { subject, actor } = context;
  const view = { ...around(context), admin: actor.admin, signedIn: true };
  return {
    id: row.id,
    name: row.name,
    hide_backlog_list: row.hide_backlog_list,
    hide_closed_list: row.hide_closed_list,
    project: isProject(subject) ? presentBasicProject(view, subject.row) : null,
    lists: lists.map((list) => presentList(context, list)),
    group: isProject(subject) ? null : presentBasicGroup(view, subject.row),
    ...(context.services.config.tier !== 'free' && {
      milestone: milestone ? milestoneRecord(context, milestone) : null,
      assignee: assignee ? presentUserBasic(view, assignee) : null,
      labels: labels.map(labelRecord),
      weight: row.weight,
    }),
  };
};
