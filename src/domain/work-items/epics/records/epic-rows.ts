/** Rows of epics and their web addresses. */
import type { Selectable } from 'kysely';
import type { EpicsTable } from '../../../../platform/db/rows.ts';

export type EpicRow = Selectable<EpicsTable>;

export const epicWebUrl = (baseUrl: string, groupFullPath: string, iid: number): string =>
  `${baseUrl}/groups/${groupFullPath}/-/epics/${iid}`;
