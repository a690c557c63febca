/** The row of a release. */
import type { Selectable } from 'kysely';
import type { ReleasesTable } from '../../platform/db/rows.ts';

export type ReleaseRow = Selectable<ReleasesTable>;
