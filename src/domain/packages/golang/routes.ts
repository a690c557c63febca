/** Go modules of a project's repository, by the protocol of module proxies (facts-packages: 1.12). */
import Type from 'typebox';
import { onPackages } from '../../../kernel/access/package-access.ts';
import { bytesOf, type Endpoint, endpoint, Reply } from '../../../kernel/api/endpoint.ts';
import { forbidden, notFound, unauthenticated } from '../../../platform/failure.ts';
import { listRefs } from '../../../platform/git/refs.ts';
import { readRepository, replyWithStream } from '../../repositories/index.ts';
import { findSource, readGoMod, streamModule } from './module-source.ts';
import { moduleRequest, versionsAmong } from './rules.ts';

const text = (content: string | Buffer, type = 'text/plain; charset=utf-8') =>
  new Reply(200, Buffer.from(content), { 'content-type': type });

export const goEndpoints: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/packages/go/:module_path',
    takesRest: true,
    summary:
      'Versions of a Go module in the repository, and their files: `<module>/@v/list`, `….info`, `….mod` and `….zip`.',
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
        const tags = await readRepository(services, subject, (git) => listRefs(git, 'tag'));
        const versions = versionsAmong(
          (tags ?? []).map(({ name }) => name),
          asking,
        );
        return text(versions.map((version) => `${version}\n`).join(''));
      }
      const { kind, version } = asked;
      const found = await readRepository(services, subject, async (git) => {
        const source = await findSource(git, asking, version);
        return source && { source, mod: kind === 'mod' ? await readGoMod(git, source, module) : undefined };
      });
      if (!found) throw notFound('Module');
      const { source, mod } = found;
      if (mod) return text(mod);
      if (kind === 'info') {
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
