/** A receiver of webhooks that only counts: `GET /` returns how many came. Prints its address. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let received = 0;
const server = createServer((request, reply) => {
  if (request.method === 'GET') {
    reply.end(String(received));
    return;
  }
  request.resume().once('end', () => {
    received++;
    reply.end();
  });
});
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
