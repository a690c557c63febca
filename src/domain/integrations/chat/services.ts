/** A message as each service takes it: what is in it is shown as it was written, and calls nobody. Pure. */
import { type Properties, textOf } from '../kinds/description.ts';
import type { ChatMessage } from './message.ts';

export type ChatRequest = { url: string; body: object };

/** A service: the request of a message; `channel` where the event has one of its own. */
export type ChatService = (
  message: ChatMessage,
  properties: Properties,
  channel: string | undefined,
) => ChatRequest;

const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => entities[sign] ?? sign);

const MAX_TEXT = 4_000;

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

export const telegram: ChatService = ({ title, text, link }, properties) => {
  const server = textOf(properties, 'hostname') || 'https://api.telegram.org';
  const thread = properties.thread;
  const heading = `<a href="${escaped(link).replaceAll('"', '&quot;')}">${escaped(title)}</a>`;
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
