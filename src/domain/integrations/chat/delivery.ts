/** Events as messages in chats. */
import { OutboundFailure } from '../../../platform/outbound/outbound.ts';
import { rulesOf } from '../../hooks/index.ts';
import {
  type Delivery,
  type DeliveryServices,
  type Properties,
  textOf,
} from '../descriptions/description.ts';
import { channelFields } from '../descriptions/fields.ts';
import { isWanted } from './filters.ts';
import { type ChatMessage, type ChatPayload, messageOf } from './message.ts';
import type { ChatRequest, ChatService } from './services.ts';

/** Short: while one service hangs, the messages to others wait. */
const TIMEOUT_MS = 5_000;
const MAX_RESPONSE_BYTES = 8_192;

/** A message, and which of the channels of its event it goes to; those may be secrets, and are read when it is sent. */
type Prepared = { message: ChatMessage; flag: string; place: number };

function channelsOf(properties: Properties, flag: string): string[] {
  const name = channelFields[flag as keyof typeof channelFields] as string | undefined;
  return textOf(properties, name ?? '')
    .split(',')
    .map((channel) => channel.trim())
    .filter((channel) => channel !== '');
}

/** Posts JSON; fails where it may be tried again, and says in the log what was refused. */
export async function postJson(
  services: DeliveryServices,
  { url, body }: ChatRequest,
  headers: Record<string, string> = {},
): Promise<void> {
  const { outbound, settings, log } = services;
  try {
    const { status } = await outbound(url, {
      ...rulesOf(await settings.read(), false),
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      timeoutMilliseconds: TIMEOUT_MS,
      maximumBytes: MAX_RESPONSE_BYTES,
      cutAnswer: true,
      keepRedirects: true,
    });
    if (status === 429 || status >= 500) throw new Error(`the service answered ${status}`);
    if (status >= 300) log.info('a message to an integration was refused', { status });
  } catch (error) {
    // An address that may not be reached is none later, either.
    if (!(error instanceof OutboundFailure) || error.reason !== 'address') throw error;
    log.info('a message to an integration was not sent', { error: error.message });
  }
}

export const chatDelivery = (service: ChatService): Delivery => ({
  prepare({ flag, body }, properties) {
    const payload = body as ChatPayload;
    const message = isWanted(properties, payload) ? messageOf(payload) : undefined;
    if (!message) return [];
    const count = Math.max(channelsOf(properties, flag).length, 1);
    return Array.from({ length: count }, (_, place) => ({ message, flag, place }));
  },
  async send(services, prepared, properties) {
    const { message, flag, place } = prepared as Prepared;
    await postJson(services, service(message, properties, channelsOf(properties, flag)[place]));
  },
});
