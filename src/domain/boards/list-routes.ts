/** Lists of issue boards. */
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import { mapPage, offsetPage, type Page, type PageRequest } from '../../platform/pagination/page.ts';
import type { WriteContext } from './actions.ts';
import { forBoth } from './homes.ts';
import { createList, deleteList, moveList } from './list-actions.ts';
import { presentList } from './present.ts';
import { type List, listsOf, selectBoard } from './queries.ts';
import { CreateListInput, ListRecord, ListsInput, MoveListInput, OneListInput } from './schema.ts';

const readLists = async ({ db, subject }: WriteContext, boardId: number): Promise<List[]> =>
  listsOf(db, subject, found(await selectBoard(db, subject, boardId), 'Board'));

/** A board has a hundred lists at most: they are read at once. */
function pageOf(lists: readonly List[], page: PageRequest): Promise<Page<List>> {
  if (page.kind !== 'offset') throw new Error('this list has pages by offset');
  return offsetPage(page, lists.slice(page.offset, page.offset + page.perPage + 1), async () => lists.length);
}

export const listEndpoints: Endpoint[] = forBoth<Endpoint>(({ word, path, read, manage }) => [
  listing({
    method: 'GET',
    path: `${path}/:board_id/lists`,
    summary: `Lists of an issue board of a ${word}, in their order; without those of open and of closed issues.`,
    access: read,
    page: 'offset',
    input: ListsInput,
    item: ListRecord,
    handle: async (context) => {
      const lists = await readLists(context, context.input.board_id);
      return mapPage(await pageOf(lists, context.page), (list) => presentList(context, list));
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:board_id/lists/:list_id`,
    summary: `One list of an issue board of a ${word}.`,
    access: read,
    input: OneListInput,
    reply: ListRecord,
    handle: async (context) => {
      const lists = await readLists(context, context.input.board_id);
      return presentList(
        context,
        found(
          lists.find(({ id }) => id === context.input.list_id),
          'List',
        ),
      );
    },
  }),
  endpoint({
    method: 'POST',
    path: `${path}/:board_id/lists`,
    summary: `Adds a list to an issue board of a ${word}: of a label, an assignee or a milestone.`,
    access: manage,
    input: CreateListInput,
    reply: ListRecord,
    handle: async (context) => {
      const { board_id, ...input } = context.input;
      return presentList(context, await createList(context, board_id, input));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:board_id/lists/:list_id`,
    summary: `Moves a list of an issue board of a ${word} to a position.`,
    access: manage,
    input: MoveListInput,
    reply: ListRecord,
    handle: async (context) => {
      const { board_id: boardId, list_id: id, position } = context.input;
      return presentList(context, await moveList(context, { boardId, id }, position));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:board_id/lists/:list_id`,
    summary: `Deletes a list of an issue board of a ${word}; its issues stay.`,
    access: manage,
    input: OneListInput,
    reply: noContent,
    handle: async (context) => {
      const { board_id: boardId, list_id: id } = context.input;
      await deleteList(context, { boardId, id }, context.unmodified);
      return null;
    },
  }),
]);
