/** Names of Python packages (PEP 503). Pure. */

/** The name as indexes have it: in lower case, and each run of `-`, `_` and `.` is one `-`. */
export const normalName = (name: string): string => name.replace(/[-_.]+/g, '-').toLowerCase();
