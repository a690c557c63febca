/**
 * How references of each kind are found with the reader's rights: the owner of the records that they stand for
 * registers it.
 */
import type { AuthorizedProject } from '../../kernel/access/find.ts';
import { Registry } from '../../kernel/registry.ts';
import type { Reference, ReferenceKind } from './references.ts';
import type { RenderContext } from './render-context.ts';

/** A reference with its project, which the reader sees. */
export type ProjectReference = { reference: Reference; project: AuthorizedProject };

/** A reference and its HTML. */
export type Link = [reference: Reference, html: string];

/**
 * The links of the references to records that exist and that the reader sees, many at once; others stay text.
 * For records of projects, the projects are found before, those of all kinds by one statement.
 */
export type ReferenceDefinition =
  | {
      kind: ReferenceKind;
      findInProjects(context: RenderContext, references: readonly ProjectReference[]): Promise<Link[]>;
    }
  | {
      kind: ReferenceKind;
      find(context: RenderContext, references: readonly Reference[]): Promise<Link[]>;
    };

export const referenceDefinitions = new Registry<ReferenceDefinition>();
