/** The list of who takes part in a noteable, declared by the owners of kinds. */
import type { Static, TObject, TProperties } from 'typebox';
import type { Access } from '../../../kernel/access/access.ts';
import type { AuthorizedProject } from '../../../kernel/access/find.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { type Context, type Endpoint, listing } from '../../../kernel/api/endpoint.ts';
import { presentUserBasic, UserBasic } from '../../../kernel/users/records.ts';
import { mapPage } from '../../../platform/pagination/page.ts';
import { readersAmong } from '../mentions/mentions.ts';
import { usersByIds } from '../mentions/queries.ts';
import type { Noteable } from '../noteables/noteables.ts';
import { participantIds } from '../noteables/subscription-queries.ts';
import { selectUsers } from './queries.ts';

type ParticipantsEndpoint<P extends TProperties> = {
  path: string;
  summary: string;
  access: Access<AuthorizedProject, Caller>;
  input: TObject<P>;
  find(context: Context<Static<TObject<P>>, AuthorizedProject, Caller>): Promise<Noteable>;
};

/** Author, assignees, commenters and mentioned users, as far as they can read it; oldest accounts first. */
export const participantsEndpoint = <P extends TProperties>({
  find,
  ...spec
}: ParticipantsEndpoint<P>): Endpoint =>
  listing({
    ...spec,
    method: 'GET',
    page: 'offset',
    item: UserBasic,
    handle: async (context) => {
      const { db, services, settings, page } = context;
      const noteable = await find(context);
      const people = await usersByIds(db, await participantIds(db, noteable));
      const readers = noteable.kind.isPublic(noteable)
        ? people.map(({ id }) => id)
        : [...(await readersAmong(db, services.database.points, noteable, people))];
      const around = { baseUrl: services.baseUrl(), settings };
      return mapPage(await selectUsers(db, readers, page), (user) => presentUserBasic(around, user));
    },
  });
