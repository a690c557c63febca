/** Refusals of changelogs, in the public API's words. */
import { Failure } from '../../platform/failure.ts';
import { ConfigurationProblem } from './configuration.ts';
import { TemplateProblem } from './template.ts';

export const refused = (reason: string): Failure =>
  new Failure('unprocessable', `Failed to generate the changelog: ${reason}`);

/** The work's result; what is wrong with the configuration is told to the caller. */
export async function orRefused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigurationProblem || error instanceof TemplateProblem)
      throw refused(error.message);
    throw error;
  }
}
