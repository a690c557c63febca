/** Issue boards of projects and of groups. */
import { type Endpoint, endpoint, found, listing, noContent } from '../../kernel/api/endpoint.ts';
import { mapInTurns } from '../../platform/turns.ts';
import { createBoard, deleteBoard, updateBoard, type WriteContext } from './actions.ts';
import { forBoth } from './homes.ts';
import { presentBoard, type ViewContext } from './present.ts';
import { type BoardRow, selectBoard, selectBoards, wholeBoards } from './queries.ts';
import { BoardRecord, CreateInput, OneInput, UpdateInput } from './schema.ts';

const show = async (context: ViewContext & WriteContext, row: BoardRow): Promise<BoardRecord> => {
  const [board] = await wholeBoards(context.db, context.subject, [row]);
  return presentBoard(context, found(board));
};

export const boardEndpoints: Endpoint[] = forBoth<Endpoint>(({ word, path, read, manage }) => [
  listing({
    method: 'GET',
    path,
    summary: `Issue boards of a ${word} with their lists, by name.`,
    access: read,
    page: 'offset',
    item: BoardRecord,
    handle: async (context) => {
      const { db, subject, page } = context;
      const boards = await selectBoards(db, subject, page);
      const whole = await wholeBoards(db, subject, boards.items);
      return { ...boards, items: await mapInTurns(whole, (board) => presentBoard(context, board)) };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:board_id`,
    summary: `One issue board of a ${word} with its lists.`,
    access: read,
    input: OneInput,
    reply: BoardRecord,
    handle: async (context) => {
      const { db, subject, input } = context;
      return show(context, found(await selectBoard(db, subject, input.board_id), 'Board'));
    },
  }),
  endpoint({
    method: 'POST',
    path,
    summary: `Makes an issue board of a ${word}, without lists; below premium a group has one.`,
    access: manage,
    input: CreateInput,
    reply: BoardRecord,
    handle: async (context) => show(context, await createBoard(context, context.input.name)),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/:board_id`,
    summary: `Changes an issue board of a ${word}; what is not sent stays as it is.`,
    access: manage,
    input: UpdateInput,
    reply: BoardRecord,
    handle: async (context) => {
      const { board_id, ...changes } = context.input;
      return show(context, await updateBoard(context, board_id, changes));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:board_id`,
    summary: `Deletes an issue board of a ${word}, and its lists.`,
    access: manage,
    input: OneInput,
    reply: noContent,
    handle: async (context) => {
      await deleteBoard(context, context.input.board_id, context.unmodified);
      return null;
    },
  }),
]);
