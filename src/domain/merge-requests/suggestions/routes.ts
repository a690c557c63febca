/** Applying suggestions (facts-merge-requests: 7.5). */
import Type from 'typebox';
import { signedIn } from '../../../kernel/access/access.ts';
import { type Endpoint, endpoint } from '../../../kernel/api/endpoint.ts';
import { integerId } from '../../../platform/http/parameters/schema.ts';
import { SuggestionRecord } from '../../conversation/index.ts';
import { applyToBranch } from './apply.ts';
import { presentSuggestion } from './present.ts';

const MAX_AT_ONCE = 100;
/** Characters: a commit of 1 MiB could not be read again. */
const MAX_MESSAGE_LENGTH = 200_000;

const commit_message = Type.Optional(
  Type.String({
    maxLength: MAX_MESSAGE_LENGTH,
    description: 'Instead of the project’s; may have the same variables.',
  }),
);

export const suggestionEndpoints: Endpoint[] = [
  endpoint({
    method: 'PUT',
    path: '/suggestions/:id/apply',
    summary: 'Applies a suggestion: commits it to the source branch of its merge request.',
    access: signedIn,
    input: Type.Object({ id: integerId(), commit_message }),
    reply: SuggestionRecord,
    handle: async (context) => {
      const { id, commit_message: template } = context.input;
      const missing = 'Suggestion is not applicable as the suggestion was not found.';
      const [row] = await applyToBranch(context, [id], { missing, template });
      if (!row) throw new Error('the suggestion was applied, and is none');
      return presentSuggestion(row);
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/suggestions/batch_apply',
    summary: 'Applies several suggestions of one branch by one commit, or none of them.',
    access: signedIn,
    input: Type.Object({
      ids: Type.Array(integerId(), { minItems: 1, maxItems: MAX_AT_ONCE }),
      commit_message,
    }),
    reply: Type.Array(SuggestionRecord),
    handle: async (context) => {
      const { ids, commit_message: template } = context.input;
      const missing = 'Suggestions are not applicable as one or more suggestions were not found.';
      return (await applyToBranch(context, ids, { missing, template })).map(presentSuggestion);
    },
  }),
];
