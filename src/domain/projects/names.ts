/** Names of projects, as the rules and as the document of the API have them. */

export const NAME =
  /^[\p{L}\p{N}\p{Extended_Pictographic}_](?:[\p{L}\p{N}\p{Pd}\p{Emoji}\p{M}_. +()/',&:!?#@-]|\u200d)*$/u;
/** As a schema says it, in classes that every program knows: there emoji are none. */
export const namePattern = "^[\\p{L}\\p{N}_][\\p{L}\\p{N}\\p{M}_. +()/',&:!?#@-]*$";
