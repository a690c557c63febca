/** Alerts as noteables. */
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Noteable, NoteableKind } from '../../conversation/index.ts';
import { isReadByAnybody } from '../../spam/index.ts';

export const alertKind: NoteableKind = {
  name: 'alert',
  type: 'AlertManagement::Alert',
  column: 'alert_id',
  numberedIn: 'alerts',
  isResolvable: false,
  hasTodos: true,
  isPublic: ({ project }) => project !== undefined && isReadByAnybody(project, 'read_alerts'),
  readers:
    async () =>
    (_person, { project }) =>
      project?.may('read_alerts') ?? false,
};

export const alertNoteable = (
  project: AuthorizedProject,
  alert: { id: number; iid: number; title: string },
): Noteable => ({
  kind: alertKind,
  id: alert.id,
  sha: undefined,
  iid: alert.iid,
  title: alert.title,
  authorId: undefined,
  confidential: false,
  locked: false,
  project,
  group: undefined,
});
