/** Epics as they are read everywhere. */
import type { Selectable } from 'kysely';
import type { EpicsTable } from '../../platform/db/rows.ts';

export type EpicRow = Selectable<EpicsTable>;

/** What an epic's address is made of: it stands in its group under its number. */
export const epicWebUrl = (baseUrl: string, groupFullPath: string, iid: number): string =>
  `${baseUrl}/groups/${groupFullPath}/-/epics/${iid}`;
