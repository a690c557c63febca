/** Packages of projects, in the formats of the programs that publish and install them. */
import type { Capability } from '../../kernel/capability.ts';
import type { Needs } from '../../kernel/services.ts';
import { CLEAN, type Cleaning } from './cleanup/actions.ts';
import { runCleaning, runCleanup } from './cleanup/cleaning.ts';
import { composerEndpoints } from './composer/routes.ts';
import { conanEndpoints } from './conan/routes.ts';
import { debianEndpoints } from './debian/routes.ts';
import { REMOVE_WAITING, removeWaiting } from './debian/waiting-actions.ts';
import { genericEndpoints } from './generic/routes.ts';
import { goEndpoints } from './golang/routes.ts';
import { helmEndpoints } from './helm/routes.ts';
import { forgetVersion } from './maven/metadata-actions.ts';
import { mavenEndpoints } from './maven/routes.ts';
import { npmEndpoints } from './npm/routes.ts';
import { nugetEndpoints } from './nuget/routes.ts';
import { protectionEndpoints } from './protection/routes.ts';
import { pythonEndpoints } from './pypi/routes.ts';
import { reassignPackages } from './records/reassign-actions.ts';
import { packageEndpoints } from './records/routes.ts';
import { gemEndpoints } from './rubygems/routes.ts';
import { terraformEndpoints, terraformRoutes } from './terraform/routes.ts';

export {
  packageDownloadEndpoint,
  packageEndpoint,
  packageFilesEndpoint,
  packagesEndpoint,
} from './records/routes.ts';

const RUN_CLEANUP = 'packages.run_cleanup';

export const packagesCapability = (services: Needs<'database' | 'blobs'>): Capability => ({
  name: 'packages',
  endpoints: [
    ...packageEndpoints({ maven: forgetVersion }),
    ...protectionEndpoints,
    ...genericEndpoints,
    ...pythonEndpoints,
    ...npmEndpoints,
    ...mavenEndpoints,
    ...helmEndpoints,
    ...nugetEndpoints,
    ...composerEndpoints,
    ...goEndpoints,
    ...gemEndpoints,
    ...conanEndpoints,
    ...terraformEndpoints,
    ...debianEndpoints,
  ],
  routes: terraformRoutes,
  tasks: {
    [RUN_CLEANUP]: () => runCleanup(services),
    [REMOVE_WAITING]: () => removeWaiting(services),
    // Only cleanLater() adds them.
    [CLEAN]: (payload) => runCleaning(services, payload as Cleaning),
  },
  schedules: [
    { task: RUN_CLEANUP, pattern: '*/10 * * * *' },
    { task: REMOVE_WAITING, pattern: '29 * * * *' },
  ],
  tables: [
    ...['packages', 'package_files', 'package_tags', 'package_file_pipelines', 'package_protection_rules'],
    'nuget_symbols',
    ...['debian_distributions', 'debian_files', 'debian_releases', 'debian_indexes'],
  ],
  unique: {
    debian_distributions_project: { property: 'codename' },
    debian_distributions_group: { property: 'codename' },
    debian_distributions_suite_of_project: { property: 'suite' },
    debian_distributions_suite_of_group: { property: 'suite' },
    packages_nuget: { property: 'version', status: 'unprocessable' },
    package_protection_rules_pattern: { property: 'package_name_pattern', status: 'unprocessable' },
  },
  // A project's packages are deleted with it, by foreign key; their bytes by the next sweep.
  reassign: reassignPackages,
});
