/** Go modules of a project's repository, by the protocol of module proxies (facts-packages: 1.12). */
import Type from 'typebox';
import { onPackages } from '../../../kernel/access/package-access.ts';
import { bytesOf, type Endpoint, endpoint, Reply } from '../../../kernel/api/endpoint.ts';
import { forbidden, notFound, unauthenticated } from '../../../platform/failure.ts';
import { readRepository, replyWithStream } from '../../repositories/index.ts';
import { findSource, newestVersion, readGoMod, streamModule, versionsOf } from './module-source.ts';
import { moduleRequest } from './rules.ts';

const text = (content: string | Buffer, type = 'text/plain; charset=utf-8') =>
  new Reply(200, Buffer.from(content), { 'content-type': type });

export const goEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/packages/go/:module_path',
    takesRest: true,
    summary:
      'Versions of a Go module in the repository, and their files: `<module>/@v/list`, `….info`, `….mod`, `….zip` and `<module>/@latest`.',
    access: onPackages('read_packages'),
    packageScope: 'read_package_registry',
    jobToken: true,
    also: [304, 422],
    input: Type.Object({
      module_path: Type.String({
        description:
          'The name of the module begins with the web address of the project, without its scheme and port.',
      }),
    }),
    reply: bytesOf('text/plain', 'application/json', 'application/zip'),
    handle: async (context) => {
      const { services, subject, request, input, actor, deployToken } = context;
      // It is the code that is read: deploy tokens have a scope of their own for that.
      if (deployToken || !subject.may('read_code'))
        throw actor || deployToken ? forbidden() : unauthenticated();
      const prefix = `${new URL(services.baseUrl()).hostname}/${subject.fullPath}`;
      const asking = moduleRequest(input.module_path, prefix);
      if (!asking) throw notFound('Module');
      const { asked, module } = asking;
      if (asked.kind === 'list') {
        const versions = await readRepository(services, subject, (git) => versionsOf(git, asking));
        return text((versions ?? []).map((version) => `${version}\n`).join(''));
      }
      const found = await readRepository(services, subject, async (git) => {
        const version = asked.kind === 'latest' ? await newestVersion(git, asking) : asked.version;
        const source = version === undefined ? undefined : await findSource(git, asking, version);
        return (
          source && {
            source,
            version,
            mod: asked.kind === 'mod' ? await readGoMod(git, source, module) : undefined,
          }
        );
      });
      if (!found) throw notFound('Module');
      const { source, version, mod } = found;
      if (mod) return text(mod);
      if (asked.kind !== 'zip') {
        const Time = source.time.toISOString().replace(/\.\d+Z$/, 'Z');
        return text(JSON.stringify({ Version: version, Time }), 'application/json');
      }
      return replyWithStream(services, subject, request, {
        identity: JSON.stringify([module, version, source.commit]),
        headers: { 'content-type': 'application/zip' },
        make: (git) => streamModule(git, source, `${module}@${version}`),
      });
    },
  }),
];
