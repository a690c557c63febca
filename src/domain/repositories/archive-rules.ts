/** How an archive is called. Pure. */

/**
 * `<project>-<ref>-<commit>`, which is also the folder that everything in it is in; the commit once when it was asked for
 * by its id, and the path behind it when only a part was.
 */
export function archiveName(project: string, ref: string, commit: string, path: string): string {
  const parts = [project, ref, ...(ref === commit ? [] : [commit]), ...(path === '' ? [] : [path])];
  return parts.map((part) => part.replaceAll('/', '-')).join('-');
}
