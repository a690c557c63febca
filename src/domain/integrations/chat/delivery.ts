/** Events as messages in chats. */
import { call } from '../kinds/call.ts';
import { type Delivery, type Properties, textOf } from '../kinds/description.ts';
import { channelFields } from '../kinds/fields.ts';
import { isWanted } from './filters.ts';
import { type ChatMessage, type ChatPayload, messageOf } from './message.ts';
import { type ChatService, MAX_TEXT } from './services.ts';

/** A message, and which of the channels of its event it goes to; those may be secrets, and are read when it is sent. */
type Prepared = { message: ChatMessage; flag: string; place: number };

/** Of one event: each is a message of its own. */
const MAX_CHANNELS = 20;
/** Characters of a title: those of a commit have no bound. */
const MAX_TITLE = 1_000;

function channelsOf(properties: Properties, flag: string): string[] {
  const name = channelFields[flag as keyof typeof channelFields] as string | undefined;
  return textOf(properties, name ?? '')
    .split(',')
    .map((channel) => channel.trim())
    .filter((channel) => channel !== '')
    .slice(0, MAX_CHANNELS);
}

export const chatDelivery = (service: ChatService): Delivery => ({
  prepare({ flag, body }, properties) {
    const payload = body as ChatPayload;
    const whole = isWanted(properties, payload) ? messageOf(payload) : undefined;
    if (!whole) return [];
    // One more than is shown: the service says that there is more.
    const message = {
      ...whole,
      title: whole.title.slice(0, MAX_TITLE),
      text: whole.text.slice(0, MAX_TEXT + 1),
    };
    const count = Math.max(channelsOf(properties, flag).length, 1);
    return Array.from({ length: count }, (_, place) => ({ message, flag, place }));
  },
  async send(services, prepared, properties, id) {
    const { message, flag, place } = prepared as Prepared;
    const request = service(message, properties, channelsOf(properties, flag)[place], id);
    await call(services, { method: 'POST', ...request });
  },
});
