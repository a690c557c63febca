/** The first page of administration: what waits for an administrator, and where everything is. */
import {
  ADMIN_PATH,
  adminAreas,
  adminNotices,
  adminPage,
  showAdminPage,
} from '../../kernel/api/admin-page.ts';
import type { Page } from '../../kernel/api/page.ts';
import { html } from '../../platform/http/pages/html.ts';

export const overviewPage: Page = adminPage({
  method: 'GET',
  path: ADMIN_PATH,
  handle: async (context) => {
    const all = await Promise.all(adminNotices.all(context.services).map((notice) => notice(context)));
    const notices = all.filter((notice) => notice !== undefined);
    const body = html`${
      notices.length === 0
        ? html`<p>Nothing waits for you.</p>`
        : html`<ul class="notices">${notices.map(({ text, path }) => html`<li><a href="${path}">${text}</a></li>`)}</ul>`
    }
${adminAreas()}`;
    return showAdminPage(context, { title: 'Administration', body });
  },
});
