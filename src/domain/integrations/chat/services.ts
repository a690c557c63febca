/** A message as each service takes it: what is in it is shown as it was written, and calls nobody. Pure. */
import type { ServiceRequest } from '../kinds/call.ts';
import { type Properties, textOf } from '../kinds/description.ts';
import type { ChatMessage } from './message.ts';

export type ChatRequest = Pick<ServiceRequest, 'url' | 'headers'> & { method?: 'PUT'; body: object };

/** A service: the request of a message; `channel` where the event has one of its own. The id names the message over all tries. */
export type ChatService = (
  message: ChatMessage,
  properties: Properties,
  channel: string | undefined,
  id: string,
) => ChatRequest;

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => entities[sign] ?? sign);

/** Characters of a text that a service shows. */
export const MAX_TEXT = 4_000;

const attachment = ({ text, color }: ChatMessage, show: (text: string) => string) =>
  text === ''
    ? {}
    : { attachments: [{ fallback: show(cut(text, MAX_TEXT)), text: show(cut(text, MAX_TEXT)), color }] };

/** Slack, and what takes its messages. */
const slackLike =
  (show: (text: string) => string): ChatService =>
  (message, properties, channel) => {
    const username = textOf(properties, 'username');
    const where = channel ?? textOf(properties, 'channel');
    return {
      url: textOf(properties, 'webhook'),
      body: {
        text: `<${message.link}|${show(message.title)}>`,
        ...(username !== '' && { username }),
        ...(where !== '' && { channel: where }),
        ...attachment(message, show),
      },
    };
  };

export const slack = slackLike(escaped);

/** It calls those who are named: a joiner that is not seen keeps names from being any. */
export const mattermost = slackLike((text) => escaped(text).replaceAll('@', '@\u{2060}'));

export const discord: ChatService = ({ title, text, link, color }, properties, channel) => ({
  url: channel ?? textOf(properties, 'webhook'),
  body: {
    embeds: [
      {
        title: cut(title, 256),
        description: cut(text, MAX_TEXT),
        url: link,
        color: Number.parseInt(color.slice(1), 16),
      },
    ],
    allowed_mentions: { parse: [] },
  },
});

export const microsoftTeams: ChatService = ({ title, text, link, color }, properties) => ({
  url: textOf(properties, 'webhook'),
  body: {
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    themeColor: color.slice(1),
    summary: title,
    title,
    text: escaped(cut(text, MAX_TEXT)),
    potentialAction: [{ '@type': 'OpenUri', name: 'Open', targets: [{ os: 'default', uri: link }] }],
  },
});

/** Markdown that is shown as it is. */
const quoted = (text: string): string => escaped(text).replace(/[\\`*_[\]]/g, '\\$&');

export const webexTeams: ChatService = ({ title, text, link }, properties) => ({
  url: textOf(properties, 'webhook'),
  body: {
    markdown: `[${quoted(title)}](${link})${text === '' ? '' : `\n\n${escaped(cut(text, MAX_TEXT))}`}`,
  },
});

export const circuit: ChatService = ({ title, text, link }, properties) => ({
  url: textOf(properties, 'webhook'),
  body: {
    text: `[${quoted(title)}](${link})${text === '' ? '' : `\n${quoted(cut(text, MAX_TEXT))}`}`,
    markdown: true,
  },
});

/** Plain texts with links as `<address|text>`: a joiner that is not seen keeps what people write from being one, or a name. */
export const googleChat: ChatService = ({ title, text, link }, properties) => {
  const plain = (written: string): string =>
    written.replaceAll('<', '<\u{2060}').replaceAll('@', '@\u{2060}');
  return {
    url: textOf(properties, 'webhook'),
    body: {
      text: `<${link}|${plain(title).replaceAll('>', '›')}>${text === '' ? '' : `\n${plain(cut(text, MAX_TEXT))}`}`,
    },
  };
};

export const pumble: ChatService = (message, properties) => ({
  url: textOf(properties, 'webhook'),
  body: { text: `[${quoted(message.title)}](${message.link})`, ...attachment(message, quoted) },
});

export const matrix: ChatService = ({ title, text, link }, properties, _, id) => {
  const server = textOf(properties, 'hostname') || 'https://matrix.org';
  const room = encodeURIComponent(textOf(properties, 'room'));
  const written = cut(text, MAX_TEXT);
  return {
    method: 'PUT',
    url: `${server.replace(/\/+$/, '')}/_matrix/client/v3/rooms/${room}/send/m.room.message/${encodeURIComponent(id)}`,
    headers: { authorization: `Bearer ${textOf(properties, 'token')}` },
    body: {
      msgtype: 'm.text',
      body: [title, link, ...(text === '' ? [] : [written])].join('\n'),
      format: 'org.matrix.custom.html',
      formatted_body: `${anchor(title, link)}${text === '' ? '' : `<br>${escaped(written).replaceAll('\n', '<br>')}`}`,
      // Names in it call nobody.
      'm.mentions': {},
    },
  };
};

const anchor = (title: string, link: string): string =>
  `<a href="${escaped(link).replaceAll('"', '&quot;')}">${escaped(title)}</a>`;

export const telegram: ChatService = ({ title, text, link }, properties) => {
  const server = textOf(properties, 'hostname') || 'https://api.telegram.org';
  const thread = properties.thread;
  const heading = anchor(title, link);
  return {
    url: `${server.replace(/\/+$/, '')}/bot${textOf(properties, 'token')}/sendMessage`,
    body: {
      chat_id: textOf(properties, 'room'),
      text: text === '' ? heading : `${heading}\n${escaped(cut(text, 3_500))}`,
      parse_mode: 'HTML',
      ...(thread != null && { message_thread_id: thread }),
    },
  };
};

export const pushover: ChatService = ({ title, text, link }, properties) => {
  const [device, sound] = [textOf(properties, 'device'), textOf(properties, 'sound')];
  return {
    url: 'https://api.pushover.net/1/messages.json',
    body: {
      token: textOf(properties, 'api_key'),
      user: textOf(properties, 'user_key'),
      priority: Number(textOf(properties, 'priority')),
      title: cut(title, 250),
      message: cut(text || title, 1_024),
      url: cut(link, 512),
      url_title: 'Open',
      ...(device !== '' && { device }),
      ...(sound !== '' && { sound }),
    },
  };
};
