/** Endpoints of award emoji on issues, epics, snippets, and their notes (facts: Award emoji). */
import Type, { type TProperties } from 'typebox';
import type { ResourceParent as Home } from '../../../kernel/access/resource-parents.ts';
import { announce } from '../../../kernel/activity/announce-actions.ts';
import type { Actor } from '../../../kernel/actor.ts';
import { type Endpoint, endpoint, listing, noContent } from '../../../kernel/api/endpoint.ts';
import { ahead, type Db, inTransaction } from '../../../platform/db/database.ts';
import { notFound, unauthenticated } from '../../../platform/failure.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { type AwardWithUser, giveAward, takeAward } from '../noteables/award-actions.ts';
import { awardAnnouncement } from '../noteables/award-announcement.ts';
import { type Awardable, awardableOf, emojiName } from '../noteables/awards.ts';
import type { FindContext, NoteableResource } from '../noteables/noteable-resources.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { completeTodos } from '../noteables/todo-actions.ts';
import { findNote } from '../notes/queries.ts';
import { requirePart } from '../notes/rules.ts';
import { AwardRecord, awardId, newAward, noteId } from '../notes/schema.ts';
import { findAward, findAwardOfNote, selectAwards } from './award-queries.ts';
import { presentAward } from './present.ts';

/** The noteable, and the awardable: itself or one of its notes. */
type Awarded = { target: Noteable; awardable: Awardable };

/** An award, and the awardable that has it. */
type Given = Awarded & { award: AwardWithUser };

type Input = Record<string, unknown>;

/** A path of awards: its parameters beside the project or group, and how the awardable is found. */
type AwardResource = {
  path: string;
  noun: string;
  names: TProperties;
  find(context: FindContext, home: Home, input: Input): Promise<Awarded>;
  findAward(context: FindContext, home: Home, input: Input & { award_id: number }): Promise<Given>;
};

function awardResources(resource: NoteableResource): AwardResource[] {
  const { awards } = resource;
  if (!awards) return [];
  const names = { noteable_id: awards.noteable };
  const findTarget: AwardResource['find'] = async (context, home, input) => {
    const noteable = await awards.find(context, home, input.noteable_id);
    const awardable = awardableOf(noteable);
    if (!awardable) throw notFound('Award Emoji');
    return { target: noteable, awardable };
  };
  const ofTarget: AwardResource = {
    path: `${resource.path}/award_emoji`,
    noun: resource.noun,
    names,
    find: findTarget,
    findAward: async (context, home, input) => {
      const awarded = await findTarget(context, home, input);
      return { ...awarded, award: await findAward(context.db, awarded.awardable, input.award_id) };
    },
  };
  const ofNote: AwardResource = {
    path: `${resource.path}/notes/:note_id/award_emoji`,
    noun: `a note on ${resource.noun}`,
    names: { ...names, ...noteId },
    find: async (context, home, input) => {
      const noteable = await awards.find(context, home, input.noteable_id);
      const note = await findNote(context, noteable, Number(input.note_id));
      // System notes take no awards.
      if (note.system_action !== null) throw notFound('Award Emoji');
      return { target: noteable, awardable: { column: 'note_id', id: note.id } };
    },
    findAward: async (context, home, input) => {
      const noteable = await awards.find(context, home, input.noteable_id);
      const id = Number(input.note_id);
      const award = await findAwardOfNote(context, noteable, id, input.award_id);
      return { target: noteable, awardable: { column: 'note_id', id }, award };
    },
  };
  return [ofTarget, ofNote];
}

/** The public API's message for an award that cannot be given, which is a 404. */
const refused = (reason: string) => notFound(`Award Emoji ${reason}`);

/** Gives the award; 404 for an unknown emoji, or when the actor has given it already. */
async function give(
  db: Db,
  actor: Actor,
  { target: noteable, awardable }: Awarded,
  text: string,
): Promise<AwardWithUser> {
  requirePart(noteable);
  const name = await emojiName(text);
  if (name === undefined) throw refused('Name is not a valid emoji name');
  return inTransaction(db, async (tx) => {
    const award = await giveAward(tx, awardable, actor.id, name);
    if (!award) throw refused('Name has already been taken');
    await completeTodos(ahead(tx), actor.id, noteable);
    await announce(tx, awardAnnouncement(actor, noteable, { event: 'award_given', award }));
    return award;
  });
}

const takeBack = (db: Db, actor: Actor, { target, awardable, award }: Given): Promise<void> =>
  inTransaction(db, async (tx) => {
    const taken = await takeAward(tx, awardable, award.id);
    if (taken) await announce(tx, awardAnnouncement(actor, target, { event: 'award_taken', award: taken }));
  });

/** Endpoints of awards on one kind of noteable, and on its notes. */
export const awardEndpoints = (resource: NoteableResource): Endpoint[] =>
  awardResources(resource).flatMap((of) => {
    const { path, noun, names } = of;
    const { read, write } = resource;
    const shared = resource.tier ? { tier: resource.tier } : {};
    const ofOne = Type.Object({ ...names, ...awardId });
    return [
      listing({
        ...shared,
        method: 'GET',
        path,
        summary: `Awards that ${noun} was given, oldest first.`,
        access: read,
        page: 'offset',
        input: Type.Object(names),
        item: AwardRecord,
        handle: async (context) => {
          const { db, subject, input, page } = context;
          const { awardable } = await of.find(context, subject, input);
          return mapPage(await selectAwards(db, awardable, page), (award) => presentAward(context, award));
        },
      }),
      endpoint({
        ...shared,
        method: 'POST',
        path,
        summary: `Gives ${noun} an award.`,
        access: write,
        input: Type.Object({ ...names, ...newAward }),
        reply: AwardRecord,
        handle: async (context) => {
          const { db, actor, subject, input } = context;
          const awarded = await of.find(context, subject, input);
          return presentAward(context, await give(db, actor, awarded, input.name));
        },
      }),
      endpoint({
        ...shared,
        method: 'GET',
        path: `${path}/:award_id`,
        summary: `One award that ${noun} was given.`,
        access: read,
        input: ofOne,
        reply: AwardRecord,
        handle: async (context) => {
          const { award } = await of.findAward(context, context.subject, context.input);
          return presentAward(context, award);
        },
      }),
      endpoint({
        ...shared,
        method: 'DELETE',
        path: `${path}/:award_id`,
        summary: `Takes back an award that ${noun} was given.`,
        access: write,
        input: ofOne,
        reply: noContent,
        handle: async (context) => {
          const { db, actor, subject, input, unmodified } = context;
          const given = await of.findAward(context, subject, input);
          if (given.award.user_id !== actor.id && !actor.admin) throw unauthenticated();
          unmodified(given.award.updated_at);
          await takeBack(db, actor, given);
          return null;
        },
      }),
    ];
  });
