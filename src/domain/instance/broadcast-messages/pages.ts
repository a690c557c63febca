/** Puts a broadcast message away: the browser remembers it until the message is over. */
import { localPath } from '../../../kernel/api/local-path.ts';
import { type Page, page, redirect } from '../../../kernel/api/page.ts';
import { dismissalCookie, isDismissable } from '../../../kernel/instance/broadcasts.ts';
import { now } from '../../../platform/clock.ts';

/** Seconds that a browser remembers it at most. */
const LONGEST = 31_536_000;

export const broadcastPages: Page[] = [
  page({
    method: 'POST',
    path: '/-/broadcast_messages/:id/dismiss',
    whileOverdue: true,
    async handle({ services, request, field }) {
      const { broadcasts } = await services.instance.read();
      const message = broadcasts.find(({ id }) => String(id) === request.params.id);
      const back = localPath(field('return_to'));
      // Nothing is remembered of messages that are over, or cannot be put away.
      if (!message || !isDismissable(message)) return redirect(back);
      const left = Math.ceil((message.ends_at.getTime() - now().getTime()) / 1_000);
      const secure = services.baseUrl().startsWith('https:') ? '; Secure' : '';
      const cookie = `${dismissalCookie(message.id)}=true; Path=/; Max-Age=${Math.min(Math.max(left, 1), LONGEST)}; HttpOnly; SameSite=Lax${secure}`;
      return redirect(back, { 'set-cookie': cookie });
    },
  }),
];
