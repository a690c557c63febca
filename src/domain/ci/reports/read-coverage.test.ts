import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { useApp } from '../../../../test/support/app.ts';
import { placeBlob } from '../../../../test/support/blobs.ts';
import { digest } from '../../../platform/secret.ts';
import { readPipelineCoverage } from './read-coverage.ts';

const app = useApp();

test('the reports of a pipeline have fifty thousand files at most', async () => {
  const { services } = app.app;
  const classes = Array.from(
    { length: 50_001 },
    (_, at) => `<class filename="${at}"><line number="1" hits="1"/></class>`,
  );
  const packed = gzipSync(`<coverage>${classes.join('')}</coverage>`);
  placeBlob(app, packed);
  const report = { id: 1, name: 'wide', sha256: digest(packed), access: 'public' as const };
  const { files, problems } = await readPipelineCoverage(services, [report], new AbortController().signal);
  expect(files).toHaveLength(50_000);
  expect(files[0]).toEqual({ path: '0', lines: 1, covered: 1 });
  expect(problems).toEqual([
    { job: 'wide', message: 'the reports of the pipeline have more than 50,000 files' },
  ]);
  const aborted = readPipelineCoverage(services, [report], AbortSignal.abort());
  await expect(aborted).rejects.toThrow('aborted');
});
