/** What a server over HTTP says first of a repository: its refs, and what it can do (gitprotocol-http). */
import { takeTurns } from '../../turns.ts';
import { isObjectId, NO_OBJECT, shortRef } from '../names.ts';
import { BadPktLine, PktLineReader } from '../program/pkt-line.ts';
import type { Service } from '../program/transport.ts';

export type Advertisement = {
  /** As git's programs read it: without the name of the service. */
  bytes: Buffer;
  /** Branches and tags by their full names. */
  refs: ReadonlyMap<string, string>;
  /** The full name of the branch that HEAD stands for, where the server tells. */
  head: string | undefined;
};

/** What no repository here can be, or no server of git says. */
export class BadAnswer extends Error {}

/** Reads the answer of the service; at most so many branches and tags. */
export async function readAdvertisement(
  answer: Buffer,
  service: Service,
  maximumRefs: number,
): Promise<Advertisement> {
  const refs = new Map<string, string>();
  const lines = new PktLineReader();
  const turn = takeTurns();
  let capabilities = '';
  let seen = 0;
  let flushes = 0;
  let headerBytes = 0;
  try {
    for (const { payload, bytes } of lines.push(answer)) {
      seen++;
      await turn();
      if (flushes === 0) {
        headerBytes += bytes.length;
        if (seen === 1 && payload?.toString().trim() !== `# service=git-${service}`)
          throw new BadAnswer('The answer is not one of a git server.');
      }
      if (payload === undefined) {
        flushes++;
        if (flushes === 2) break;
        continue;
      }
      if (flushes !== 1) continue;
      const text = payload.toString('utf8').replace(/\n$/, '');
      const end = text.indexOf('\0');
      if (end >= 0) capabilities = text.slice(end + 1);
      const said = end >= 0 ? text.slice(0, end) : text;
      if (said.startsWith('shallow ')) throw new BadAnswer('The repository there is shallow.');
      const [oid = '', name = ''] = [said.slice(0, said.indexOf(' ')), said.slice(said.indexOf(' ') + 1)];
      if (oid.length === 64 || / object-format=sha256/.test(` ${capabilities}`))
        throw new BadAnswer('The repository there has objects by SHA-256.');
      if (!isObjectId(oid)) throw new BadAnswer('The answer is not one of a git server.');
      if (oid === NO_OBJECT || name.endsWith('^{}') || shortRef(name) === undefined) continue;
      refs.set(name, oid);
      if (refs.size > maximumRefs)
        throw new BadAnswer(`The repository there has more than ${maximumRefs} branches and tags.`);
    }
  } catch (error) {
    if (error instanceof BadPktLine) throw new BadAnswer('The answer is not one of a git server.');
    throw error;
  }
  if (flushes < 2) throw new BadAnswer('The answer of the git server ends too early.');
  const [, head] = /(?:^| )symref=HEAD:(\S+)/.exec(capabilities) ?? [];
  return { bytes: answer.subarray(headerBytes), refs, head };
}
