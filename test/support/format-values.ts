/** Values of the document's formats that the generator lacks: keys, and names in the world of the tests. */
import { gpgKey, sampleKeys } from './sample-keys.ts';

export const formatValues: Readonly<Record<string, readonly string[]>> = {
  'ssh-public-key': Object.values(sampleKeys).map(({ key }) => key),
  'gpg-public-key': [gpgKey.key],
  'storage-name': ['default', 'fast'],
  'git-branch': ['main', 'person-1'],
  'git-revision': ['main', 'person-1', 'HEAD'],
  re2: ['^(feat|fix): .+', '\\bABC-\\d+', ''],
  'image-path-pattern': ['world/world', 'World/world/new*'],
  'emoji-name': ['coffee', 'rocket'],
  'redirect-uris': [
    'https://client.example/back',
    'https://client.example/back\nhttps://other.example:8443/',
  ],
};
