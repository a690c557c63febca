/** Addresses of pictures in texts that leave the instance (facts-merge-requests: 10.2). Pure. */

/** What may begin or end a picture, or is code, in which there are none. A text is walked once, whatever it is. */
const SIGNS = /^ {0,3}(?:`{3,}|~{3,})|`+|!\[|\]\(|\)|\n/gm;

const isRelative = (url: string): boolean =>
  url !== '' && !url.startsWith('//') && !/^[a-z][a-z\d+.-]*:/i.test(url);

/** Files of texts are below the address of their project or group, all else below the instance's. */
const absolute = (url: string, { baseUrl, home }: { baseUrl: string; home: string }): string => {
  if (url.startsWith('/uploads/')) return home + url;
  return `${baseUrl}${url.startsWith('/') ? '' : '/'}${url}`;
};

/** The Markdown with absolute addresses of its pictures; links are left as they are. */
export function absoluteImages(markdown: string, at: { baseUrl: string; home: string }): string {
  const parts: string[] = [];
  let done = 0;
  let isImage = false;
  /** Where an address begins. */
  let begin: number | undefined;
  /** What ends the code that this is in. */
  let code: string | undefined;
  for (const { 0: sign, index } of markdown.matchAll(SIGNS)) {
    const mark = sign.trim();
    if (mark[0] === '`' || mark[0] === '~') {
      if (code === undefined) code = mark;
      else if (mark === code || (code.length > 2 && mark.startsWith(code))) code = undefined;
    } else if (code !== undefined) {
      // Code within a line ends with its paragraph at the latest.
      if (sign === '\n' && code.length < 3 && markdown[index + 1] === '\n') code = undefined;
    } else if (sign === '\n') {
      isImage = false;
      begin = undefined;
    } else if (sign === '![') isImage = true;
    else if (sign === '](') {
      begin = isImage ? index + sign.length : undefined;
      isImage = false;
    } else if (begin !== undefined) {
      const url = markdown.slice(begin, index);
      if (isRelative(url)) {
        parts.push(markdown.slice(done, begin), absolute(url, at));
        done = index;
      }
      begin = undefined;
    }
  }
  return parts.length === 0 ? markdown : parts.join('') + markdown.slice(done);
}
