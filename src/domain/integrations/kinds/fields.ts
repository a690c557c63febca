/** Fields that several integrations have. */
import Type from 'typebox';
import { stringEnum } from '../../../platform/http/parameters/schema.ts';
import { webAddress } from '../../../platform/http/web-address.ts';
import type { HookFlag } from '../../hooks/index.ts';
import type { Field } from './description.ts';

const MAX_LENGTH = 2_048;

export const text = (description: string): Field => ({
  schema: Type.String({ maxLength: MAX_LENGTH, description }),
});
export const shortText = (description: string): Field => ({
  schema: Type.String({ maxLength: 255, description }),
});
export const secret = (description: string): Field => ({
  schema: Type.String({ maxLength: MAX_LENGTH, writeOnly: true, description }),
  secret: true,
});
export const address = (description: string, address: Field['address'] = 'called'): Field => ({
  schema: Type.String({ maxLength: MAX_LENGTH, ...webAddress, description }),
  address,
});
/** An address that is as good as a password. */
export const secretAddress = (description: string): Field => ({
  schema: Type.String({ maxLength: MAX_LENGTH, ...webAddress, writeOnly: true, description }),
  secret: true,
  address: 'called',
});
export const required = (field: Field): Field => ({ ...field, required: true });

export const branchChoices = ['all', 'default', 'protected', 'default_and_protected'] as const;
export const labelChoices = ['match_any', 'match_all'] as const;

export const branches = {
  branches_to_be_notified: {
    schema: stringEnum(branchChoices, {
      description: 'The branches whose pushes and pipelines are told; `default` unless told.',
    }),
  },
} satisfies Record<string, Field>;

/** Of those that are told of pipelines. */
export const pipelines = {
  notify_only_broken_pipelines: {
    schema: Type.Boolean({
      description: 'Whether pipelines are told only where they fail; so it is unless told.',
    }),
  },
} satisfies Record<string, Field>;

export const labels = {
  labels_to_be_notified: text(
    'Labels such as `~bug,~"needs a look"`: issues, merge requests and comments on them are told only with these.',
  ),
  labels_to_be_notified_behavior: {
    schema: stringEnum(labelChoices, {
      description: 'Whether one of the labels is enough; it is unless told.',
    }),
  },
} satisfies Record<string, Field>;

/** The events of chat services, with the field for their channel. */
export const channelFields = {
  push_events: 'push_channel',
  tag_push_events: 'tag_push_channel',
  issues_events: 'issue_channel',
  confidential_issues_events: 'confidential_issue_channel',
  merge_requests_events: 'merge_request_channel',
  note_events: 'note_channel',
  confidential_note_events: 'confidential_note_channel',
  wiki_page_events: 'wiki_page_channel',
  pipeline_events: 'pipeline_channel',
} as const satisfies Partial<Record<HookFlag, string>>;

export const chatEvents = Object.keys(channelFields) as (keyof typeof channelFields)[];

/** A field for the channel of each kind of events. */
export const channels = (field: (flag: string) => Field): Record<string, Field> =>
  Object.fromEntries(Object.entries(channelFields).map(([flag, name]) => [name, field(flag)]));
