/** mvn, which publishes releases and snapshots in a project, and fetches them from its group. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useGitbeaker } from './gitbeaker-client.ts';
import { makeFolder } from './support.ts';

const gitbeaker = useGitbeaker();

/** The plugins of mvn are kept between runs; what it has from us is not. */
const repository = join(homedir(), '.cache', 'ashlar', 'journeys', 'maven');

/** Runs mvn to its end: throws with its output when it fails. */
const mvn = (folder: string, ...args: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const all = ['-B', '-ntp', '-s', 'settings.xml', `-Dmaven.repo.local=${repository}`, ...args];
    execFile('/usr/bin/mvn', all, { cwd: folder, timeout: 300_000 }, (error, output, complaints) =>
      error ? reject(new Error(`${error.message}\n${output}${complaints}`)) : resolve(output),
    );
  });

/** Credentials in the two forms that programs of this format have. */
const settings = (token: string): string => `<settings><servers>
<server><id>header</id><configuration><httpHeaders><property><name>Private-Token</name><value>${token}</value></property></httpHeaders></configuration></server>
<server><id>basic</id><username>anything</username><password>${token}</password></server>
</servers></settings>`;

const consumer = (repository: { id: string; url: string }, version: string): string => `<project>
<modelVersion>4.0.0</modelVersion><groupId>com.acme</groupId><artifactId>consumer</artifactId><version>1</version><packaging>pom</packaging>
<repositories><repository><id>${repository.id}</id><url>${repository.url}</url><snapshots><enabled>true</enabled><updatePolicy>always</updatePolicy></snapshots></repository></repositories>
<dependencies><dependency><groupId>com.acme.quarry</groupId><artifactId>stone</artifactId><version>${version}</version></dependency></dependencies>
</project>`;

test('a library is published, its versions are found, and a deleted one is found no more', async () => {
  const group = await gitbeaker.makeGroup('quarry');
  const { root, url } = gitbeaker;
  const { id } = await root.Projects.create({ name: 'stone', namespaceId: group.id, visibility: 'private' });
  const person = await gitbeaker.makeUser('mason');
  await root.ProjectMembers.add(id, 30, { userId: person.id });
  const folder = makeFolder();
  const file = (name: string, content: string): void => writeFileSync(join(folder, name), content);
  file('settings.xml', settings(person.token));
  const publish = (version: string, content: string, server: string): Promise<string> => {
    file('stone.jar', content);
    return mvn(
      folder,
      'deploy:deploy-file',
      '-Dfile=stone.jar',
      `-Durl=${url}/api/v4/projects/${id}/packages/maven`,
      `-DrepositoryId=${server}`,
      ...['-DgroupId=com.acme.quarry', '-DartifactId=stone', `-Dversion=${version}`, '-Dpackaging=jar'],
    );
  };
  /** The content of what the version, or range of versions, leads to. */
  const fetchFrom = async (
    at: { id: string; url: string },
    version: string,
    name: string,
  ): Promise<string> => {
    rmSync(join(repository, 'com', 'acme'), { recursive: true, force: true });
    file('pom.xml', consumer(at, version));
    mkdirSync(join(folder, 'out'), { recursive: true });
    await mvn(folder, 'dependency:copy-dependencies', '-DoutputDirectory=out', '-Dmdep.useBaseVersion=true');
    return readFileSync(join(folder, 'out', name), 'utf8');
  };
  await publish('1.0', 'granite', 'header');
  await publish('1.1', 'slate', 'basic');
  await publish('2.0-SNAPSHOT', 'sand', 'basic');
  await publish('2.0-SNAPSHOT', 'chalk', 'header');
  const ofGroup = { id: 'basic', url: `${url}/api/v4/groups/quarry/-/packages/maven` };
  const ofProject = { id: 'header', url: `${url}/api/v4/projects/quarry%2Fstone/packages/maven` };
  expect(await fetchFrom(ofGroup, '1.0', 'stone-1.0.jar')).toBe('granite');
  expect(await fetchFrom(ofGroup, '[1.0,1.9)', 'stone-1.1.jar')).toBe('slate');
  expect(await fetchFrom(ofProject, '2.0-SNAPSHOT', 'stone-2.0-SNAPSHOT.jar')).toBe('chalk');
  const response = await fetch(`${url}/api/v4/projects/${id}/packages?package_version=1.1`, {
    headers: { 'private-token': person.token },
  });
  const [published] = (await response.json()) as { id: number }[];
  await root.Packages.remove(id, published?.id ?? 0);
  rmSync(join(folder, 'out'), { recursive: true });
  expect(await fetchFrom(ofProject, '[1.0,1.9)', 'stone-1.0.jar')).toBe('granite');
});
