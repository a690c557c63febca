/** What administrators tell everybody, as git shows it to whoever has pushed. */
import { levelAt } from '../../../kernel/access/level-at.ts';
import type { Caller } from '../../../kernel/actor.ts';
import { broadcastsAt, isFor, linesOf } from '../../../kernel/instance/broadcasts.ts';
import type { Needs } from '../../../kernel/services.ts';
import { now } from '../../../platform/clock.ts';
import type { HttpRequest } from '../../../platform/http/messages.ts';

/** The banners for the repository's address; a failure to read them never fails the push. */
export async function broadcastLines(
  services: Needs<'database' | 'instance' | 'log'>,
  request: HttpRequest,
  caller: Caller,
): Promise<string[]> {
  try {
    const path = request.path.replace(/(\.git)?\/git-receive-pack$/, '');
    const { broadcasts } = await services.instance.read();
    const here = broadcastsAt(broadcasts, path, now());
    if (here.every((each) => isFor(each, 0))) return linesOf(here);
    const level = await levelAt(services.database.points, caller, path.slice(1));
    return linesOf(here.filter((each) => isFor(each, level)));
  } catch (error) {
    services.log.error('no broadcast messages for a push', error, { request_id: request.id });
    return [];
  }
}
