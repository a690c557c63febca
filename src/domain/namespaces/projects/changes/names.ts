/** Names of projects, for the rules and for the document of the API. */

export const NAME =
  /^[\p{L}\p{N}\p{Extended_Pictographic}_](?:[\p{L}\p{N}\p{Pd}\p{Emoji}\p{M}_. +()/',&:!?#@-]|\u200d)*$/u;
/** The pattern of the schema, in classes that every program knows: those have none for emoji. */
export const namePattern = "^[\\p{L}\\p{N}_][\\p{L}\\p{N}\\p{M}_. +()/',&:!?#@-]*$";
