/**
 * The table of integrations (facts-packages: Integrations): what they are called, their fields and events, and how they are told.
 * Endpoints, their validation and the API's description are made of it. It has those alone that do what they say.
 */
import Type from 'typebox';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { asanaDelivery } from '../asana/delivery.ts';
import { chatDelivery } from '../chat/delivery.ts';
import {
  circuit,
  discord,
  googleChat,
  matrix,
  mattermost,
  microsoftTeams,
  pumble,
  pushover,
  slack,
  telegram,
  webexTeams,
} from '../chat/services.ts';
import { jiraDelivery } from '../jira/delivery.ts';
import { jiraNames } from '../jira/issue-names.ts';
import type { Description, Tracker } from '../kinds/description.ts';
import {
  address,
  branchChoices,
  branches,
  channels,
  chatEvents,
  labels,
  pipelines,
  required,
  secret,
  secretAddress,
  shortText,
  text,
} from '../kinds/fields.ts';
import { mailDelivery } from '../mail/delivery.ts';
import { pipelineMailDelivery } from '../mail/pipelines.ts';
import { byNumber, clickup, ewm, jira, phorge, youtrack } from '../trackers/trackers.ts';

const recipients = required(text('Mail addresses between blanks or commas; the first hundred are told.'));

const webhook = required(secretAddress('The address that the service gave for incoming messages.'));

/** Fields of the services that have channels by name. */
const namedChannels = {
  webhook,
  username: text('The name under which messages are posted.'),
  channel: text('The channel; that of the address unless told.'),
  ...channels((flag) => text(`The channels of \`${flag}\`, by commas.`)),
  ...branches,
  ...pipelines,
  ...labels,
};

const issuesUrl = required(address('The address of an issue, with `:id` for its number or name.', 'shown'));
const projectUrl = required(address('The page of the project in the tracker.', 'shown'));
const newIssueUrl = address('The page on which issues are made.', 'shown');

const newIssuePages: ReadonlySet<Tracker> = new Set([byNumber, ewm]);

/** Trackers to which references in texts lead. */
const trackers: readonly Description[] = [
  { slug: 'bugzilla', title: 'Bugzilla', tracker: byNumber },
  { slug: 'clickup', title: 'ClickUp', tracker: clickup },
  { slug: 'custom-issue-tracker', title: 'Custom issue tracker', tracker: byNumber },
  { slug: 'ewm', title: 'EWM', tracker: ewm },
  { slug: 'phorge', title: 'Phorge', tracker: phorge },
  { slug: 'redmine', title: 'Redmine', tracker: byNumber },
  { slug: 'youtrack', title: 'YouTrack', tracker: youtrack },
].map((each) => ({
  ...each,
  events: [],
  page: { field: 'project_url', label: 'Issue tracker' },
  fields: {
    issues_url: issuesUrl,
    project_url: projectUrl,
    ...(newIssuePages.has(each.tracker) && { new_issue_url: newIssueUrl }),
  },
}));

const descriptions: readonly Description[] = [
  ...trackers,
  {
    slug: 'asana',
    title: 'Asana',
    events: ['push_events'],
    fields: {
      api_key: required(secret('The personal access token, in whose name comments are made.')),
      restrict_to_branch: text('The branches whose pushes are told, by commas; all unless told.'),
    },
    delivery: asanaDelivery('https://app.asana.com'),
  },
  {
    slug: 'discord',
    title: 'Discord Notifications',
    events: chatEvents,
    fields: {
      webhook,
      ...channels((flag) => secretAddress(`Another address for messages of \`${flag}\`.`)),
      ...branches,
      ...pipelines,
      ...labels,
    },
    delivery: chatDelivery(discord),
  },
  {
    slug: 'emails-on-push',
    title: 'Emails on push',
    events: ['push_events', 'tag_push_events'],
    fields: {
      recipients,
      branches_to_be_notified: {
        schema: stringEnum(branchChoices, {
          description: 'The branches whose pushes are told; `all` unless told.',
        }),
      },
      disable_diffs: { schema: Type.Boolean({ description: 'Whether the mails are without what changed.' }) },
      send_from_committer_email: {
        schema: Type.Boolean({
          description:
            'Whether mails come from the public address of who pushed, where its domain is that of the site.',
        }),
      },
    },
    delivery: mailDelivery,
  },
  {
    slug: 'external-wiki',
    title: 'External wiki',
    events: [],
    fields: { external_wiki_url: required(address('The address of the wiki.', 'shown')) },
    page: { field: 'external_wiki_url', label: 'External wiki' },
  },
  {
    slug: 'hangouts-chat',
    title: 'Google Chat',
    events: chatEvents,
    fields: { webhook, ...branches, ...pipelines, ...labels },
    delivery: chatDelivery(googleChat),
  },
  {
    slug: 'jira',
    title: 'Jira issues',
    events: ['commit_events', 'merge_requests_events'],
    fields: {
      url: required(address('The address of Jira, to which references lead.', 'shown')),
      api_url: address('The address of its API; `url` unless told.'),
      username: text('The user, where the password is no token.'),
      password: required(secret('The password, API token or personal access token.')),
      jira_auth_type: {
        schema: Type.Integer({
          minimum: 0,
          maximum: 1,
          description: '0 for a user and password, 1 for a token.',
        }),
      },
      jira_issue_transition_automatic: {
        schema: Type.Boolean({
          description:
            'Whether issues that are closed go to the first state that is done; else as `jira_issue_transition_id` says.',
        }),
      },
      jira_issue_transition_id: text('The ids of the transitions of an issue that is closed, by commas.'),
      jira_issue_prefix: shortText('What stands before the keys of issues in texts.'),
      jira_issue_regex: shortText(
        'The keys of issues, in the syntax of RE2, where they are not such as `STONE-12`.',
      ),
      comment_on_event_enabled: {
        schema: Type.Boolean({
          description:
            'Whether issues that commits and merge requests name get a comment; they do unless told.',
        }),
      },
    },
    mayBeOff: true,
    delivery: jiraDelivery,
    tracker: jira,
    trackerNames: jiraNames,
    page: { field: 'url', label: 'Issue tracker' },
  },
  {
    slug: 'matrix',
    title: 'Matrix notifications',
    events: chatEvents,
    fields: {
      hostname: address('Another server; `https://matrix.org` unless told.'),
      token: required(secret('The access token of the account that posts.')),
      room: required(text('The id of the room, such as `!stone:matrix.org`.')),
      ...branches,
      ...pipelines,
    },
    delivery: chatDelivery(matrix),
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
    fields: { webhook, ...branches, ...pipelines, ...labels },
    delivery: chatDelivery(microsoftTeams),
  },
  {
    slug: 'pipelines-email',
    title: 'Pipeline status emails',
    events: ['pipeline_events'],
    fields: {
      recipients,
      ...pipelines,
      notify_only_default_branch: {
        schema: Type.Boolean({
          description:
            'Whether those of the default branch alone are told; `branches_to_be_notified` counts before it.',
        }),
      },
      ...branches,
    },
    delivery: pipelineMailDelivery,
  },
  {
    slug: 'pumble',
    title: 'Pumble',
    events: chatEvents,
    fields: { webhook, ...branches, ...pipelines, ...labels },
    delivery: chatDelivery(pumble),
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
      ...pipelines,
    },
    delivery: chatDelivery(telegram),
  },
  {
    slug: 'unify-circuit',
    title: 'Unify Circuit',
    events: chatEvents,
    fields: { webhook, ...branches, ...pipelines, ...labels },
    delivery: chatDelivery(circuit),
  },
  {
    slug: 'webex-teams',
    title: 'Webex Teams',
    events: chatEvents,
    fields: { webhook, ...branches, ...pipelines, ...labels },
    delivery: chatDelivery(webexTeams),
  },
];

/** By slug, in their order. */
export const integrations: ReadonlyMap<string, Description> = new Map(
  descriptions.toSorted((a, b) => (a.slug < b.slug ? -1 : 1)).map((each) => [each.slug, each]),
);
export const slugs: readonly string[] = [...integrations.keys()];
