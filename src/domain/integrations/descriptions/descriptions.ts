/**
 * The table of integrations (facts-packages: Integrations): what they are called, their fields and events, and how they are told.
 * Endpoints, their validation and the API's description are made of it. It has those alone that do what they say.
 */
import Type from 'typebox';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { chatDelivery } from '../chat/delivery.ts';
import {
  discord,
  mattermost,
  microsoftTeams,
  pushover,
  slack,
  telegram,
  webexTeams,
} from '../chat/services.ts';
import { byNumber, clickup, phorge, youtrack } from '../references/trackers.ts';
import type { Description } from './description.ts';
import {
  address,
  branches,
  channels,
  chatEvents,
  labels,
  required,
  secret,
  secretAddress,
  text,
} from './fields.ts';

const webhook = required(secretAddress('The address that the service gave for incoming messages.'));

/** Fields of the services that have channels by name. */
const namedChannels = {
  webhook,
  username: text('The name under which messages are posted.'),
  channel: text('The channel; that of the address unless told.'),
  ...channels((flag) => text(`The channels of \`${flag}\`, by commas.`)),
  ...branches,
  ...labels,
};

const issuesUrl = required(address('The address of an issue, with `:id` for its number or name.', 'shown'));
const projectUrl = required(address('The page of the project in the tracker.', 'shown'));
const newIssueUrl = address('The page on which issues are made.', 'shown');

/** Trackers to which references in texts lead. */
const trackers: readonly Description[] = [
  { slug: 'bugzilla', title: 'Bugzilla', tracker: byNumber },
  { slug: 'clickup', title: 'ClickUp', tracker: clickup },
  { slug: 'custom-issue-tracker', title: 'Custom issue tracker', tracker: byNumber },
  { slug: 'phorge', title: 'Phorge', tracker: phorge },
  { slug: 'redmine', title: 'Redmine', tracker: byNumber },
  { slug: 'youtrack', title: 'YouTrack', tracker: youtrack },
].map((each) => ({
  ...each,
  events: [],
  fields: {
    issues_url: issuesUrl,
    project_url: projectUrl,
    ...(each.tracker === byNumber && { new_issue_url: newIssueUrl }),
  },
}));

const descriptions: readonly Description[] = [
  ...trackers,
  {
    slug: 'discord',
    title: 'Discord Notifications',
    events: chatEvents,
    fields: {
      webhook,
      ...channels((flag) => secretAddress(`Another address for messages of \`${flag}\`.`)),
      ...branches,
      ...labels,
    },
    delivery: chatDelivery(discord),
  },
  {
    slug: 'mattermost',
    title: 'Mattermost notifications',
    events: chatEvents,
    fields: namedChannels,
    delivery: chatDelivery(mattermost),
  },
  {
    slug: 'microsoft-teams',
    title: 'Microsoft Teams notifications',
    events: chatEvents,
    fields: { webhook, ...branches, ...labels },
    delivery: chatDelivery(microsoftTeams),
  },
  {
    slug: 'pushover',
    title: 'Pushover',
    events: ['push_events'],
    fields: {
      api_key: required(secret('The key of the application.')),
      user_key: required(secret('The key of the user or group.')),
      priority: required({
        schema: stringEnum(['-2', '-1', '0', '1'], {
          description: 'From -2, without any sound, to 1, high.',
        }),
      }),
      device: text('The devices, by commas; all unless told.'),
      sound: text('The sound; that of the device unless told.'),
    },
    delivery: chatDelivery(pushover),
  },
  {
    slug: 'slack',
    title: 'Slack notifications',
    events: chatEvents,
    fields: namedChannels,
    delivery: chatDelivery(slack),
  },
  {
    slug: 'telegram',
    title: 'Telegram',
    events: chatEvents,
    fields: {
      token: required(secret('The token of the bot.')),
      room: required(text('The id of the chat, or `@name` of a channel.')),
      hostname: address('Another server of the bot API; `https://api.telegram.org` unless told.'),
      thread: { schema: Type.Integer({ minimum: 1, description: 'The id of the topic in the chat.' }) },
      ...branches,
    },
    delivery: chatDelivery(telegram),
  },
  {
    slug: 'webex-teams',
    title: 'Webex Teams',
    events: chatEvents,
    fields: { webhook, ...branches, ...labels },
    delivery: chatDelivery(webexTeams),
  },
];

/** By slug, in their order. */
export const integrations: ReadonlyMap<string, Description> = new Map(
  descriptions.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)).map((each) => [each.slug, each]),
);
export const slugs: readonly string[] = [...integrations.keys()];
