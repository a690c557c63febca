/** Files of artifacts below the data folder. */
import { join } from 'node:path';

export const artifactsFolder = (dataFolder: string): string => join(dataFolder, 'ci', 'artifacts');
