import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { receiveFile } from './multipart-file.ts';

const headers = { 'content-type': 'multipart/form-data; boundary=b' };
const begun = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';

function receive(stream: Readable): Promise<unknown> {
  return receiveFile(stream, headers, { name: 'file', maximum: 100, write: async () => {} });
}

test('a body that breaks off is refused, also before it is read', async () => {
  const before = Readable.from([begun]);
  before.destroy();
  await expect(receive(before)).rejects.toThrow('truncated');
  const during = new Readable({ read() {} });
  const receiving = receive(during);
  during.push(begun);
  setImmediate(() => during.destroy());
  await expect(receiving).rejects.toThrow('truncated');
  await expect(receive(Readable.from([begun]))).rejects.toThrow('truncated');
  expect(await receive(Readable.from([`${begun}\r\n--b--\r\n`]))).toEqual({ filename: 'a', size: 4 });
});
