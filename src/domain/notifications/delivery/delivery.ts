/** Notification mail: a fact is fanned out to its recipients, and each of them gets a mail. */
import type { Capability } from '../../../kernel/capability.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { type NotificationFact, notificationFacts } from '../events/events.ts';
import { unsubscribePages } from '../unsubscribe/pages.ts';
import { DUE, DUE_PAGE, dueDatePageTask, dueDateTask } from './due-date-reminders.ts';
import { FAN_OUT, factTask, fanOutTask } from './fan-out.ts';
import { mailPages } from './mail-pages.ts';
import { GROUP_MOVED, groupMovedTask } from './moves.ts';
import { type MailServices, SEND, SEND_MANY, sendManyTask, sendTask } from './send.ts';

const taskOf = ({ name }: NotificationFact): string => `notifications.${name}`;

/** The capability's part for mail. */
export function deliveryOf(
  services: MailServices,
  mailer: Mailer,
): Required<Pick<Capability, 'tasks' | 'listeners' | 'forRegistered' | 'schedules' | 'pages'>> {
  const tasks = {
    [GROUP_MOVED]: groupMovedTask(services),
    [DUE]: dueDateTask(services),
    [DUE_PAGE]: dueDatePageTask(services),
    [FAN_OUT]: fanOutTask(services, mailer),
    [SEND]: sendTask(services, mailer),
    [SEND_MANY]: sendManyTask(services, mailer),
  };
  const facts = () => notificationFacts.all(services);
  const taskNames = () => [...facts().map(taskOf), ...Object.keys(tasks)];
  return {
    tasks,
    listeners: [{ fact: 'namespace_moved', task: GROUP_MOVED }],
    forRegistered: () => ({
      tasks: Object.fromEntries(facts().map((fact) => [taskOf(fact), factTask(services, mailer, fact)])),
      listeners: facts().map((fact) => ({ fact: fact.name, task: taskOf(fact) })),
    }),
    schedules: [{ task: DUE, pattern: '1 * * * *' }],
    pages: [...unsubscribePages, ...mailPages(mailer, taskNames)],
  };
}
