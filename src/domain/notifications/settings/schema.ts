/** Parameters and records of notification settings. */
import Type, { type Static, type TSchema } from 'typebox';
import { levels } from '../../../kernel/namespaces/notification-levels.ts';
import { nullable } from '../../../platform/http/parameters/schema.ts';
import type { ChosenEventName } from './levels.ts';

const choice = Type.Optional(nullable(Type.Boolean({ description: 'Null where the default applies.' })));

const EventSettings = {
  new_release: choice,
  new_note: choice,
  new_issue: choice,
  reopen_issue: choice,
  close_issue: choice,
  reassign_issue: choice,
  issue_due: choice,
  new_merge_request: choice,
  push_to_merge_request: choice,
  reopen_merge_request: choice,
  close_merge_request: choice,
  reassign_merge_request: choice,
  change_reviewer_merge_request: choice,
  merge_merge_request: choice,
  failed_pipeline: choice,
  fixed_pipeline: choice,
  success_pipeline: choice,
  moved_project: choice,
  merge_when_pipeline_succeeds: choice,
  new_epic: choice,
};

const EventFields = { ...EventSettings, approver: choice } satisfies Record<ChosenEventName, TSchema>;

export const SettingChanges = Type.Object({
  level: Type.Optional(Type.String({ maxLength: 255, ruled: { enum: levels } })),
  ...EventFields,
});
export type SettingChanges = Static<typeof SettingChanges>;

export const GlobalChanges = Type.Object({
  ...SettingChanges.properties,
  notification_email: Type.Optional(
    nullable(
      Type.String({
        maxLength: 255,
        description: 'A confirmed address of the caller; empty for the primary.',
      }),
    ),
  ),
});

export const GlobalSetting = Type.Object({ level: Type.String(), notification_email: Type.String() });
export type GlobalSetting = Static<typeof GlobalSetting>;

export const ScopeSetting = Type.Object({
  level: Type.String(),
  events: Type.Optional(Type.Object(EventSettings, { description: 'Where the level is custom.' })),
});
export type ScopeSetting = Static<typeof ScopeSetting>;
