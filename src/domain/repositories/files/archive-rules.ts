/** The names of archives. Pure. */

/**
 * `<project>-<ref>-<commit>`, which is also the folder around all entries; the commit once when it was
 * requested by its id, and the path behind it for a part.
 */
export function archiveName(project: string, ref: string, commit: string, path: string): string {
  const parts = [project, ref, ...(ref === commit ? [] : [commit]), ...(path === '' ? [] : [path])];
  return parts.map((part) => part.replaceAll('/', '-')).join('-');
}
