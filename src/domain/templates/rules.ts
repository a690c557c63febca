/** Names of templates, and what is put into the texts of licences. Pure. */

export type Filling = { project?: string | undefined; fullname?: string | undefined; year: number };

/** The text with what is known in its places; the others stay for who reads it. */
export const filled = (text: string, { project, fullname, year }: Filling): string =>
  text.replaceAll(/\[(year|fullname|project)\]/g, (place, name: string) => {
    if (name === 'year') return String(year);
    return (name === 'project' ? project : fullname)?.trim() || place;
  });
