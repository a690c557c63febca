import { expect, test } from 'vitest';
import { DocumentError } from '../../../platform/documents/xml.ts';
import { metadataDocument, readMetadata, withoutMissing } from './metadata.ts';

const TIME = new Date('2024-11-28T01:02:03.456Z');
const versions = `<?xml version="1.0" encoding="UTF-8"?>
<metadata>
  <groupId>com.acme</groupId>
  <artifactId>app</artifactId>
  <versioning>
    <latest>2.0-SNAPSHOT</latest>
    <release>1.1</release>
    <versions>
      <version>1.0</version>
      <version>1.1</version>
      <version>2.0-SNAPSHOT</version>
    </versions>
    <lastUpdated>20241128010203</lastUpdated>
  </versioning>
</metadata>
`;
const plugins = `<?xml version="1.0" encoding="UTF-8"?>
<metadata>
  <plugins>
    <plugin>
      <name>A &lt; B &amp; C</name>
      <prefix>a</prefix>
      <artifactId>a-maven-plugin</artifactId>
    </plugin>
    <plugin>
      <prefix>b</prefix>
      <artifactId>b-maven-plugin</artifactId>
    </plugin>
  </plugins>
</metadata>
`;

test.each([versions, plugins])('what the program writes is read and written again', async (text) => {
  expect(metadataDocument(await readMetadata(text), TIME)).toBe(text);
});

const left = async (text: string, there: { versions?: string[]; artifacts?: string[] }) =>
  withoutMissing(await readMetadata(text), {
    versions: new Set(there.versions),
    artifacts: new Set(there.artifacts),
  });

test.each([
  [['1.0', '1.1'], { latest: '1.1', release: '1.1', versions: ['1.0', '1.1'] }],
  [['1.0', '2.0-SNAPSHOT'], { latest: '2.0-SNAPSHOT', release: '1.0', versions: ['1.0', '2.0-SNAPSHOT'] }],
  [['2.0-SNAPSHOT'], { latest: '2.0-SNAPSHOT', versions: ['2.0-SNAPSHOT'] }],
  // Others are not added: their own deployment does that.
  [['1.0', '3.0'], { latest: '1.0', release: '1.0', versions: ['1.0'] }],
])('of the versions %j', async (there, expected) => {
  const known = { groupId: 'com.acme', artifactId: 'app', plugins: [] };
  expect(await left(versions, { versions: there })).toEqual({ ...known, ...expected });
});

test('what has no version and no plugin left is nothing', async () => {
  expect(await left(versions, { versions: ['3.0'] })).toBeUndefined();
  expect(await left(plugins, { versions: ['1.0'] })).toBeUndefined();
  const one = await left(plugins, { artifacts: ['b-maven-plugin'] });
  expect(one).toEqual({ versions: [], plugins: [{ prefix: 'b', artifactId: 'b-maven-plugin' }] });
});

test.each([
  '',
  'text',
  '<metadata>',
  '<!DOCTYPE m [<!ENTITY a "b">]><metadata>&a;</metadata>',
  `${'<a>'.repeat(1_001)}${'</a>'.repeat(1_001)}`,
])('%j has no versions, or is refused', async (text) => {
  const reading = readMetadata(text);
  if (text === '') expect(await reading).toEqual({ versions: [], plugins: [] });
  else await expect(reading).rejects.toThrow(DocumentError);
});

test('versions elsewhere in a document are none', async () => {
  const text = '<metadata><versions><version>1</version></versions><x><versioning/></x></metadata>';
  expect(await readMetadata(text)).toEqual({ versions: [], plugins: [] });
  const long = `<${'n'.repeat(100_000)}><version>1</version></${'n'.repeat(100_000)}>`;
  expect(await readMetadata(long)).toEqual({ versions: [], plugins: [] });
});
