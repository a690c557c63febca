import { expect, it } from 'vitest';
import { type Level, levelNumber, levels } from '../../../kernel/namespaces/notification-levels.ts';
import {
  type ChosenEventName,
  choosesEvent,
  chosenEvents,
  type EventChoices,
  eventsOf,
  isLevel,
  shownChoices,
} from './levels.ts';

it.each<[Level, number]>([
  ['disabled', 0],
  ['participating', 1],
  ['watch', 2],
  ['global', 3],
  ['mention', 4],
  ['custom', 5],
])('shows the level %s as %i', (level, number) => {
  expect(levelNumber(level)).toBe(number);
});

it.each(['', 'Watch', 'watching', '2', 'toString'])('knows no level %j', (text) => {
  expect(isLevel(text)).toBe(false);
});

it('knows every level by its name', () => {
  expect(levels.every(isLevel)).toBe(true);
});

it('names 21 events, of which twenty can be chosen, and nineteen where there are no epics', () => {
  expect(new Set(chosenEvents).size).toBe(21);
  expect(eventsOf('ultimate')).toEqual(chosenEvents.slice(0, 20));
  expect(eventsOf('premium')).toEqual(eventsOf('ultimate'));
  expect(eventsOf('free')).toEqual(chosenEvents.slice(0, 19));
});

const silent = eventsOf('premium').filter(
  (event) => !['failed_pipeline', 'fixed_pipeline', 'moved_project'].includes(event),
);

it('hears by default of pipelines that fail and are fixed and of moved projects, and of nothing else', () => {
  const shown = shownChoices({}, 'premium');
  expect(Object.keys(shown)).toEqual(eventsOf('premium'));
  expect(shown).toMatchObject({ failed_pipeline: true, fixed_pipeline: true, moved_project: true });
  for (const event of silent) {
    expect(shown[event]).toBeNull();
    expect(choosesEvent({}, event)).toBe(false);
  }
});

it.each<[EventChoices, ChosenEventName, boolean]>([
  [{}, 'failed_pipeline', true],
  [{ failed_pipeline: false }, 'failed_pipeline', false],
  [{ failed_pipeline: true }, 'failed_pipeline', true],
  [{}, 'moved_project', true],
  [{ moved_project: false }, 'moved_project', false],
  [{}, 'new_note', false],
  [{ new_note: true }, 'new_note', true],
  [{ new_note: false }, 'new_note', false],
  [{ new_note: true }, 'new_issue', false],
  [{ approver: true }, 'approver', true],
])('with %j chooses %s: %s', (events, event, chosen) => {
  expect(choosesEvent(events, event)).toBe(chosen);
  if (event !== 'approver')
    expect(shownChoices(events, 'free')[event]).toBe(chosen || (events[event] ?? null));
});
