/** Serves like the program, and ends without warning after the step of a move that the environment names. */
import { capabilities, movableContainers } from '../../src/capabilities.ts';
import { type Step, storageMovesCapability } from '../../src/domain/repositories/moves/capability.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { serve } from '../../src/main.ts';

const { FATAL_STEP } = process.env;
let done = false;

await serve(
  readConfig(),
  async () => (services) =>
    capabilities(services).map((each) =>
      each.name === 'storage-moves'
        ? storageMovesCapability(services, movableContainers, {
            onStep(step: Step) {
              if (step !== FATAL_STEP || done) return;
              done = true;
              process.kill(process.pid, 'SIGKILL');
            },
          })
        : each,
    ),
);
