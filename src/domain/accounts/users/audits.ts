/** The entity of a user in audit events. */
import type { AuditedEntity } from '../../../kernel/activity/announce-actions.ts';

export const userEntity = (user: { id: number; username: string }): AuditedEntity => ({
  type: 'User',
  id: user.id,
  path: user.username,
});
