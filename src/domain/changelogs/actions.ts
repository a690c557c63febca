/** Commits the section of a version to the file of a changelog. */
import { badRequest } from '../../platform/failure.ts';
import { fullRef, pathComponents } from '../../platform/git/names.ts';
import { findBranch } from '../../platform/git/refs.ts';
import { findEntry } from '../../platform/git/trees.ts';
import { type CommitContext, createCommit, lostRace, readRepository } from '../repositories/index.ts';
import { readText } from './generation.ts';
import { refused } from './refusals.ts';
import { withSection } from './sections.ts';
import type { Version } from './versions.ts';

/** Bytes of the file. */
const MAX_FILE_BYTES = 8_388_608;

export type Destination = { branch: string; file: string; message: string };

/** 422 where the version has a section already, 400 where the file changes meanwhile. */
export async function commitSection(
  context: CommitContext,
  { version, name, section }: { version: Version; name: string; section: string },
  { branch, file, message }: Destination,
): Promise<void> {
  const parts = pathComponents(file);
  if (!parts) throw badRequest('file is no path inside the repository');
  const present = await readRepository(context.services, context.subject, async (git) => {
    const head = await findBranch(git, branch);
    return head && readText(git, head, file, MAX_FILE_BYTES);
  });
  if (present && present.text === undefined) throw refused(`${file} is too long, or no text in UTF-8`);
  const content = withSection(present?.text ?? '', version, section);
  if (content === undefined) throw refused(`${file} has a section of version ${name} already`);
  const action = present ? ('update' as const) : ('create' as const);
  await createCommit(
    context,
    { branch, commit_message: message, actions: [{ action, file_path: file, content }] },
    async (git, start) => {
      const entry = start && (await findEntry(git, start.tree, parts));
      if (entry?.oid !== present?.oid) throw lostRace(fullRef('branch', branch));
    },
  );
}
