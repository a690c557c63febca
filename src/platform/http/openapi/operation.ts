/** An operation of the API, for its document and links. */
import type { TObject, TSchema } from 'typebox';
import type { Method } from '../server/server.ts';

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
    /** Statuses of successes, which have the same content, if any. */
    statuses: readonly number[];
    schema: TSchema;
    /** Records, nothing, or files of these types. */
    content: 'json' | 'none' | readonly string[];
    headers: readonly string[];
  };
  /** Statuses of `DocumentSource.refusals`. */
  refusals: readonly number[];
  /** Names of `DocumentSource.securitySchemes`, one of which suffices; undefined for none needed. */
  security: readonly (string | undefined)[];
  extensions: Record<`x-${string}`, unknown>;
};
