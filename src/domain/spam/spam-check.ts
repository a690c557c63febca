/** The spam check of texts that others can read (spec: Requests detected as spam). */

import type { Actor } from '../../kernel/actor.ts';
import { outboundFetch } from '../../kernel/api/outbound-fetch.ts';
import type { Needs } from '../../kernel/services.ts';
import type { ApplicationSettings } from '../../kernel/settings/definitions.ts';
import { now } from '../../platform/clock.ts';
import { Failure } from '../../platform/failure.ts';
import type { HttpRequest } from '../../platform/http/messages.ts';
import { unseal } from '../../platform/secret.ts';
import { isSpam, type Submission } from './akismet.ts';
import { awaitsCaptcha, liftSpamLog, writeSpamLog } from './log-actions.ts';
import { selectEmail } from './queries.ts';
import { isSolved } from './recaptcha.ts';
import { digestRequest } from './request-digest.ts';

type Written = {
  actor: Actor;
  /** The whole request: a repeated one must have the same parameters. */
  request: HttpRequest;
  kind: Submission['kind'];
  write: Submission['write'];
  title?: string | undefined;
  text: string;
  /** Whether anonymous callers can read it. Other texts are not sent to the service. */
  publiclyVisible: boolean;
};

const PERIOD_SECONDS = 60;

/** Creations of one kind by one user in a minute (facts: Application settings fields). */
async function limitCreation(
  services: Needs<'limiter'>,
  settings: ApplicationSettings,
  { actor, kind, write }: Written,
): Promise<void> {
  if (write !== 'create' || kind === 'Snippet') return;
  const limit = kind === 'Issue' ? settings.issues_create_limit : settings.notes_create_limit;
  const exempt = kind === 'Note' ? settings.notes_create_limit_allowlist : [];
  if (limit === 0 || exempt.some((name) => name.toLowerCase() === actor.username.toLowerCase())) return;
  const taken = await services.limiter.take(`create_${kind}:${actor.id}`, {
    limit,
    periodSeconds: PERIOD_SECONDS,
  });
  if (taken.allowed) return;
  const text = 'This endpoint has been requested too many times. Try again later.';
  throw new Failure('too_many_requests', said(text), { headers: { 'retry-after': String(PERIOD_SECONDS) } });
}

/** The body `{message: {error: text}}`, unlike the usual messages by property. */
const said = (text: string) => ({ error: text }) as never;

/** A header by the spec's name, or by the public product's. */
function header({ headers }: HttpRequest, name: string): string | undefined {
  const value = headers[`x-service-${name}`] ?? headers[`x-gitlab-${name}`];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether the request repeats a stopped one with its CAPTCHA solved: it passes, once. */
async function isRepetition(
  services: Needs<'database' | 'outbound' | 'log' | 'secretKey'>,
  settings: ApplicationSettings,
  { actor, request }: Written,
): Promise<boolean> {
  const response = header(request, 'captcha-response');
  const id = Number(header(request, 'spam-log-id'));
  if (!settings.recaptcha_enabled || response === undefined || !Number.isSafeInteger(id)) return false;
  const { db } = services.database;
  if (!(await awaitsCaptcha(db, id, actor.id, await digestRequest(request, actor.id)))) return false;
  try {
    const key = unseal(services.secretKey, settings.recaptcha_private_key);
    const service = { url: settings.recaptcha_url, key, fetch: outboundFetch(services, settings) };
    if (!(await isSolved(service, response, request.address))) return false;
  } catch (error) {
    // An error does not pass: the client gets a new CAPTCHA.
    services.log.error('a CAPTCHA could not be checked', error, { request: request.id });
    return false;
  }
  return liftSpamLog(db, id);
}

/** The verdict; without one the setting decides: the write passes, or is refused. Both are logged. */
async function isTakenForSpam(
  services: Needs<'database' | 'outbound' | 'log' | 'secretKey' | 'baseUrl'>,
  settings: ApplicationSettings,
  { actor, request, kind, write, title, text }: Written,
  userAgent: string | undefined,
): Promise<boolean> {
  const { db } = services.database;
  try {
    const key = unseal(services.secretKey, settings.akismet_api_key);
    const { email } = await selectEmail(db, actor.id);
    const fetch = outboundFetch(services, settings);
    const service = { url: settings.akismet_url, key, site: services.baseUrl(), fetch };
    const author = { username: actor.username, email };
    const { address } = request;
    const submission = { kind, write, title, text, author, address, userAgent, writtenAt: now() };
    return await isSpam(service, submission);
  } catch (error) {
    const hold = settings.spam_check_failure === 'hold';
    const fields = { request: request.id, kind, user: actor.id, passed: !hold };
    services.log.error('there was no verdict on spam', error, fields);
    if (!hold) return false;
    const message = `Your ${kind.toLowerCase()} could not be checked for spam and has been discarded. Try again later.`;
    throw new Failure('unavailable', said(message), { headers: { 'retry-after': '60' } });
  }
}

/**
 * Returns when the write may go on. 429 over the creation limits. Spam is discarded with 400; with a CAPTCHA
 * service 409, with the data to repeat it. 503 without a verdict, where the setting requires one.
 * Administrators, and those who act for a user by sudo, are not checked. It waits for other services: call it
 * after all other checks, and outside transactions.
 */
export async function checkSpam(
  services: Needs<'database' | 'limiter' | 'outbound' | 'log' | 'secretKey' | 'baseUrl'>,
  settings: ApplicationSettings,
  written: Written,
): Promise<void> {
  await limitCreation(services, settings, written);
  const { actor, request, kind, title, text, publiclyVisible } = written;
  if (!settings.akismet_enabled || !publiclyVisible || actor.admin || actor.sudoBy) return;
  if (await isRepetition(services, settings, written)) return;
  const { 'user-agent': userAgent } = request.headers;
  const program = typeof userAgent === 'string' ? userAgent : undefined;
  if (!(await isTakenForSpam(services, settings, written, program))) return;
  const id = await writeSpamLog(services.database.db, {
    userId: actor.id,
    kind,
    title,
    text,
    address: request.address,
    userAgent: program,
    digest: await digestRequest(request, actor.id),
  });
  services.log.info('a write was taken for spam', {
    request: request.id,
    kind,
    user: actor.id,
    spam_log: id,
  });
  const noun = kind.toLowerCase();
  if (!settings.recaptcha_enabled) {
    throw new Failure(
      'bad_request',
      said(`Your ${noun} has been recognized as spam and has been discarded.`),
    );
  }
  const advice = 'Please, change the content or solve the reCAPTCHA to proceed.';
  throw new Failure('conflict', said(`Your ${noun} has been recognized as spam. ${advice}`), {
    fields: {
      needs_captcha_response: true,
      spam_log_id: id,
      captcha_site_key: settings.recaptcha_site_key,
    },
  });
}
