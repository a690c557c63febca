/** An operation of the API, as its document and the links in it are made of. */
import type { TObject, TSchema } from 'typebox';
import type { Method } from './server.ts';

export type Operation = {
  method: Method;
  /** Below the server's address, with `:name` parameters. */
  path: string;
  summary: string;
  tag: string;
  deprecated: boolean;
  /** Path, query and body parameters together. */
  input: TObject;
  reply: {
    /** Of successes, each of which has the same content where a status has any. */
    statuses: readonly number[];
    schema: TSchema;
    /** Records, nothing, or files of these types. */
    content: 'json' | 'none' | readonly string[];
    headers: readonly string[];
  };
  /** Statuses of `DocumentSource.refusals`. */
  refusals: readonly number[];
  /** Names of `DocumentSource.securitySchemes`, each one enough; undefined for none needed. */
  security: readonly (string | undefined)[];
  extensions: Record<`x-${string}`, unknown>;
};
