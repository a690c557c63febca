/** Notification mail: a fact is fanned out to its recipients, and each of them gets a mail. */
import type { Capability } from '../../core/capability.ts';
import { type NotificationFactName, notificationFactNames } from '../../core/notifications/events.ts';
import type { Services } from '../../core/services.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import { deadLetterPages } from './dead-letters.ts';
import { DUE, DUE_PAGE, dueDatePageTask, dueDateTask } from './due-date-reminders.ts';
import { FAN_OUT, factTask, fanOutTask } from './fan-out.ts';
import { GROUP_MOVED, groupMovedTask } from './moves.ts';
import { SEND, sendTask } from './send.ts';
import { subjectSources } from './sources.ts';
import type { SubjectSources } from './subjects.ts';
import { unsubscribePages } from './unsubscribe-pages.ts';

const taskOf = (name: NotificationFactName): string => `notifications.${name}`;

/** The clock triggers due-date reminders, not a fact. */
const announced = notificationFactNames.filter((name) => name !== 'issue_due');

/** The registrations of mail delivery; `more` loads the subjects of other capabilities. */
export function deliveryRegistrations(
  services: Services,
  mailer: Mailer,
  more: SubjectSources = {},
): Required<Pick<Capability, 'tasks' | 'listeners' | 'schedules' | 'routes'>> {
  const sources = { ...subjectSources, ...more };
  const tasks = {
    ...Object.fromEntries(announced.map((name) => [taskOf(name), factTask(services, sources, name)])),
    [GROUP_MOVED]: groupMovedTask(services),
    [DUE]: dueDateTask(services),
    [DUE_PAGE]: dueDatePageTask(services),
    [FAN_OUT]: fanOutTask(services, sources),
    [SEND]: sendTask(services, mailer, sources),
  };
  return {
    tasks,
    listeners: [
      ...announced.map((fact) => ({ fact, task: taskOf(fact) })),
      { fact: 'namespace_moved', task: GROUP_MOVED },
    ],
    schedules: [{ task: DUE, pattern: '1 * * * *' }],
    routes: [...unsubscribePages(services), ...deadLetterPages(services, Object.keys(tasks))],
  };
}
