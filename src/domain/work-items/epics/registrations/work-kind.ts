/** Epics in quick actions: references to them. */

import { authorizeGroup } from '../../../../kernel/access/find.ts';
import type { WorkKind } from '../../quick-actions/work-kinds.ts';
import { epicKind } from '../records/epic-noteable.ts';
import { findEpic } from '../records/find-queries.ts';

export const epicWorkKind: WorkKind = {
  kind: epicKind,
  sign: '&',
  async find({ db, services, actor }, { project, group }, path, iid) {
    const around = path === '' ? (project?.row.namespace_id ?? group?.id ?? 0) : path;
    return findEpic(
      db,
      await authorizeGroup(services.database.points, actor, 'update_epics', around),
      actor,
      iid,
    );
  },
};
