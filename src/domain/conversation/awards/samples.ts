/** Awards of every user to the first issue, epic, merge request and snippet, and to the first note on each. */
import type { Samples } from '../../../../test/support/samples.ts';

export const samples: Samples = {
  after: ['conversation/notes'],
  rows: () => `
    insert into award_emoji (name, user_id, issue_id, epic_id, snippet_id, merge_request_id, note_id, created_at, updated_at)
      select 'tada', p.id, case x when 1 then n.issue_id end, case x when 1 then n.epic_id end, case x when 1 then n.snippet_id end,
        case x when 1 then n.merge_request_id end, case x when 2 then n.id end, now(), now()
      from person p, generate_series(1, 2) x, notes n
      where n.id in (select min(id) from notes where alert_id is null group by issue_id, epic_id, snippet_id, merge_request_id)
      order by p.id, n.id, x`,
  objects: {
    'award_emoji/:award_id': {
      table: 'award_emoji',
      where: (_, path) => {
        const [kind = 'snippet'] = ['issue', 'epic', 'merge_request'].filter((each) =>
          path.includes(`/${each}s/`),
        );
        return path.includes('/notes/')
          ? `note_id = (select min(id) from notes where ${kind}_id is not null)`
          : `${kind}_id is not null`;
      },
    },
  },
  requests: async ({ id }) => ({
    'POST /projects/:id/issues/:noteable_id/award_emoji, locked': { at: { noteable_id: 7 } },
    'POST /projects/:id/merge_requests/:noteable_id/award_emoji, locked': { at: { noteable_id: 5 } },
    'DELETE /projects/:id/issues/:noteable_id/award_emoji/:award_id, of somebody else': {
      at: { award_id: await id('select max(id) id from award_emoji where issue_id is not null') },
    },
  }),
};
