/** Stand-ins of an Akismet and of a reCAPTCHA service, which check their requests as the real ones do. */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import type { TestApp } from './app.ts';
import { bodyOf } from './factories.ts';
import { type Received, startWebServer, type WebServer } from './web-server.ts';

const AKISMET_KEY = 'the-key-of-akismet';
const CAPTCHA_SECRET = 'the-secret-of-the-captcha';
/** The response token of a solved CAPTCHA: valid once. */
export const SOLUTION = 'solved-by-a-person';

export type SpamServices = {
  /** The requests to the spam service, oldest first. */
  asked(): URLSearchParams[];
  /** The requests to the CAPTCHA service, oldest first. */
  solutions(): URLSearchParams[];
  /** The spam service's response, until the next reset(); content with "spam" in it is spam otherwise. */
  answer: ((reply: ServerResponse) => void) | undefined;
  captchaAnswer: ((reply: ServerResponse) => void) | undefined;
  /** Clears the requests, and makes the settings those of both services with `changes`. */
  reset(changes?: Record<string, unknown>): Promise<void>;
};

const fields = ({ body }: Received): URLSearchParams => new URLSearchParams(body);

/** Starts both before the tests of the calling file, and stops them after. */
export function useSpamServices(app: TestApp): SpamServices {
  let akismet: WebServer | undefined;
  let captcha: WebServer | undefined;

  const services: SpamServices = {
    asked: () => akismet?.received.map(fields) ?? [],
    solutions: () => captcha?.received.map(fields) ?? [],
    answer: undefined,
    captchaAnswer: undefined,
    async reset(changes = {}) {
      services.answer = undefined;
      services.captchaAnswer = undefined;
      akismet?.received.splice(0);
      captcha?.received.splice(0);
      const body = {
        akismet_enabled: true,
        akismet_api_key: AKISMET_KEY,
        akismet_url: akismet?.url,
        recaptcha_enabled: true,
        recaptcha_site_key: 'the-site-key',
        recaptcha_private_key: CAPTCHA_SECRET,
        recaptcha_url: `${captcha?.url}/siteverify`,
        spam_check_failure: 'allow',
        outbound_local_requests_allowlist: ['127.0.0.1'],
        ...changes,
      };
      bodyOf(await app.root('PUT /application/settings', { body }), 200);
    },
  };

  beforeAll(async () => {
    akismet = await startWebServer((request, reply) => {
      const sent = fields(request);
      if (services.answer) services.answer(reply);
      else if (request.path !== '/1.1/comment-check' || request.method !== 'POST') {
        reply.writeHead(404).end();
      } else if (sent.get('api_key') !== AKISMET_KEY || !sent.get('blog') || !sent.get('user_ip')) {
        reply.writeHead(200, { 'x-akismet-debug-help': 'a parameter is missing' }).end('invalid');
      } else reply.end(String(sent.get('comment_content')?.includes('spam')));
    });
    captcha = await startWebServer((request, reply) => {
      const sent = fields(request);
      const right = sent.get('secret') === CAPTCHA_SECRET && sent.get('response')?.startsWith(SOLUTION);
      if (services.captchaAnswer) services.captchaAnswer(reply);
      else reply.end(JSON.stringify({ success: right, 'error-codes': right ? [] : ['invalid-input'] }));
    });
  });
  afterAll(async () => {
    await Promise.all([akismet?.stop(), captcha?.stop()]);
  });
  return services;
}
