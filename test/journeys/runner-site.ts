/** The program as the small client of the runner protocol sees it. */
import type { TestApp } from '../support/app.ts';

/** `url` is asked for at each request: a program that was started anew has another address. */
export const siteOfRunners = (url: () => string): Pick<TestApp, 'url' | 'call'> => ({
  get url() {
    return url();
  },
  async call(request, { body, form, headers } = {}) {
    const [method = 'GET', path = '/'] = request.split(' ');
    const response = await fetch(`${url()}/api/v4${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? (form ?? null) : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : text,
    };
  },
});
