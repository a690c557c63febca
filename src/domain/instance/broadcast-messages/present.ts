/** Broadcast messages as records. */
import { type BroadcastTheme, type BroadcastType, isActive } from '../../../kernel/instance/broadcasts.ts';
import { now } from '../../../platform/clock.ts';
import type { BroadcastRow } from './queries.ts';
import type { BroadcastRecord } from './schema.ts';

export const presentBroadcast = (row: BroadcastRow): BroadcastRecord => ({
  id: row.id,
  message: row.message,
  starts_at: row.starts_at.toISOString(),
  ends_at: row.ends_at.toISOString(),
  color: row.color,
  font: row.font,
  target_access_levels: row.target_access_levels,
  target_path: row.target_path,
  // Only these are written.
  broadcast_type: row.broadcast_type as BroadcastType,
  theme: row.theme as BroadcastTheme,
  dismissable: row.dismissable,
  active: isActive(row, now()),
});
