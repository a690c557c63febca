/** Effects of a request on a snippet's files. Pure. */
import type { VisibilityName } from '../../kernel/policy/roles.ts';
import { invalid } from '../../platform/failure.ts';
import { pathComponents } from '../../platform/git/names.ts';
import { MAX_FILES } from './schema.ts';

/** The source of a file's content: an earlier file, or the request. */
export type FileSource = { was: string } | { content: string };
export type FileEdit =
  | { action: 'create' | 'update'; path: string; content: string }
  | { action: 'delete'; path: string }
  | { action: 'move'; path: string; from: string; content: string | undefined };

const problem = (property: string, text: string) => invalid({ [property]: [text] });

type SentChange = {
  action: FileEdit['action'];
  file_path?: string;
  previous_path?: string;
  content?: string;
};

/** The changes of a request, each with all that its action needs; 400 for an incomplete one. */
export function readChanges(sent: readonly SentChange[], sizeLimit: number): FileEdit[] {
  const edits: FileEdit[] = [];
  const named = new Set<string>();
  for (const { action, file_path: path, previous_path: from, content } of sent) {
    if (path === undefined || path === '') throw problem('file_path', "can't be blank");
    const paths = action === 'move' ? [path, from ?? ''] : [path];
    if (paths.includes('')) throw problem('previous_path', "can't be blank");
    if (!paths.every(pathComponents)) throw problem('file_path', 'is invalid');
    if (paths.some((each) => named.has(each)) || new Set(paths).size < paths.length)
      throw problem('files', 'have duplicated paths');
    for (const each of paths) named.add(each);
    const needsContent = action === 'create' || action === 'update';
    if (content === '' || (needsContent && content === undefined)) throw problem('content', "can't be blank");
    if (content !== undefined && Buffer.byteLength(content) > sizeLimit)
      throw problem('content', `is too long (maximum is ${sizeLimit} bytes)`);
    if (action === 'delete') edits.push({ action, path });
    else if (action === 'move') edits.push({ action, path, from: from ?? '', content });
    else edits.push({ action, path, content: content ?? '' });
  }
  return edits;
}

/** The files after the changes, by path; 400 for changes that do not fit the present files. */
export function changeFiles(paths: Iterable<string>, edits: readonly FileEdit[]): Map<string, FileSource> {
  const files = new Map<string, FileSource>([...paths].map((path) => [path, { was: path }]));
  for (const edit of edits) {
    const { action, path } = edit;
    const replaced = action === 'move' ? edit.from : path;
    if (action !== 'create' && !files.has(replaced)) throw problem('files', `${replaced} does not exist`);
    if (action !== 'update' && action !== 'delete' && files.has(path))
      throw problem('files', `${path} already exists`);
    files.delete(replaced);
    if (action === 'move')
      files.set(path, edit.content === undefined ? { was: edit.from } : { content: edit.content });
    else if (action !== 'delete') files.set(path, { content: edit.content });
  }
  if (files.size === 0) throw problem('files', "can't be blank");
  if (files.size > MAX_FILES) throw problem('files', `are too many (maximum is ${MAX_FILES})`);
  return files;
}

type OneFile = { file_name?: string; content?: string };

/** The deprecated form as changes: one file, of which the content, the name or both are sent. */
export function changeOfOnlyFile(
  paths: readonly string[],
  { file_name: name, content }: OneFile,
): SentChange[] {
  const [only] = paths;
  if (only === undefined || paths.length > 1)
    throw problem('files', 'are several: the parameter `files` must be used');
  if (name === undefined || name === only)
    return content === undefined ? [] : [{ action: 'update', file_path: only, content }];
  return [
    { action: 'move', file_path: name, previous_path: only, ...(content !== undefined && { content }) },
  ];
}

/** 400 for a blank title, and for a visibility that only administrators may use. */
export function checkFields(fields: {
  title: string | undefined;
  visibility: VisibilityName | undefined;
  restricted: readonly string[];
  admin: boolean;
}): void {
  const { title, visibility, restricted, admin } = fields;
  if (title?.trim() === '') throw problem('title', "can't be blank");
  if (visibility !== undefined && !admin && restricted.includes(visibility))
    throw problem('visibility_level', `${visibility} has been restricted by your administrator`);
}

type SentFiles<Change> = OneFile & { files?: readonly Change[] };

/** The changes of a request, in either form. `paths` are the present files. */
export function changesOf(paths: readonly string[], sent: SentFiles<SentChange>): readonly SentChange[] {
  if (sent.files) return sent.files;
  return (sent.file_name ?? sent.content) === undefined ? [] : changeOfOnlyFile(paths, sent);
}

/** The files of a new snippet, in either form, as changes. */
export function newFilesOf(sent: SentFiles<{ file_path: string; content: string }>): SentChange[] {
  const { files, file_name = '', content } = sent;
  if (files) return files.map((file) => ({ action: 'create', ...file }));
  return [{ action: 'create', file_path: file_name, ...(content !== undefined && { content }) }];
}
