/** Pipelines for which nobody waits. */
import { Failure } from '../../../platform/failure.ts';
import type { Log } from '../../../platform/log.ts';
import type { CreationServices, Creator, PipelineRequest } from './compile-request.ts';
import { createPipeline } from './create-actions.ts';

/** What is busy is tried again. */
export const isBusy = ({ kind }: Failure): boolean => kind === 'unavailable' || kind === 'too_many_requests';

/** Makes the pipeline. Where there is none to make, since the ref is gone, say, or may not be run, nobody is there to be told. */
export async function createUnattended(
  creator: Creator & { services: CreationServices & { log: Log } },
  request: PipelineRequest,
): Promise<void> {
  try {
    await createPipeline(creator, request);
  } catch (error) {
    if (!(error instanceof Failure) || isBusy(error)) throw error;
    const { services, subject } = creator;
    const { source, ref } = request;
    services.log.info('no pipeline was made', { project_id: subject.id, source, ref, error: error.message });
  }
}
