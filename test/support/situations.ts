/** Situations of the world, and the callers for whom they make a difference. */
import { type CallerName, callers } from './callers.ts';

export const situations = {
  private: { change: '', who: callers },
  internal: { change: 'visibility = 10', who: ['outsider', 'external'] },
  public: { change: 'visibility = 20', who: ['anonymous', 'outsider'] },
  archived: { change: 'archived = true', who: ['developer', 'owner'] },
  /** Public, its parts for members only. */
  members: {
    change: `visibility = 20, settings = settings || '{private}'`,
    who: ['anonymous', 'outsider', 'guest'],
  },
  /** Its parts turned off. */
  off: { change: `settings = settings || '{disabled}'`, who: ['owner', 'admin'] },
} as const satisfies Record<string, { change: string; who: readonly CallerName[] }>;
export type Situation = keyof typeof situations;
export const situationNames = Object.keys(situations) as Situation[];

/** The settings of a group whose projects cannot be shared. */
export const locked = '{"share_with_group_lock": true}';

const features = ['repository', 'wiki', 'snippets', 'issues', 'merge_requests', 'releases'].map(
  (name) => `${name}_access_level`,
);

/** A change of the world's group and project, and of their contents. */
export function changeOf(situation: Situation, group: number): string {
  const word = (level: string) => JSON.stringify(Object.fromEntries(features.map((name) => [name, level])));
  const change = situations[situation].change
    .replace('{private}', word('private'))
    .replace('{disabled}', word('disabled'));
  const visibility = /visibility = \d+/.exec(change)?.[0];
  const inside = `(select id from namespaces where ${group} = any(ancestor_ids))`;
  return `
    set local session_replication_role = replica;
    update namespaces set visibility = 0, archived = path = 'archived',
      settings = case path when 'locked' then '${locked}' else '{}' end::jsonb where ${group} = any(ancestor_ids);
    update projects set visibility = 0, archived = path = 'archived', settings = '{}' where namespace_id in ${inside};
    update snippets set visibility = 0;
    ${
      change &&
      `update namespaces set ${change} where ${group} = any(ancestor_ids);
    update projects set ${change} where namespace_id in ${inside};`
    }
    ${visibility === undefined ? '' : `update snippets set ${visibility};`}`;
}
