/** Rows of a statement given as one parameter: a JSON text, whatever their number. */

/** The columns that rows have, with their types. */
export type Columns = Readonly<Record<string, string>>;

/** For a `from`: the rows of the JSON text in this parameter, with these columns; what a row lacks is null. */
export const recordset = (parameter: string, name: string, columns: Columns): string =>
  `json_to_recordset(${parameter}::text::json) as ${recordType(name, columns)}`;

/** The name of a recordset with the columns of its rows. */
export const recordType = (name: string, columns: Columns): string =>
  `${name} (${Object.entries(columns)
    .map(([column, type]) => `${column} ${type}`)
    .join(', ')})`;
