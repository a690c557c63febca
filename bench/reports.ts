/** Reports as an application sends them: envelopes with one event each, packed. */
import { gzipSync } from 'node:zlib';

/** Bytes of one report, unpacked. */
const REPORT_BYTES = 50_000;
const KINDS = 64;

/** A source of numbers that is the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** An event as an SDK sends it: frames with the lines around them and their variables, breadcrumbs, a request. */
function eventOf(kind: number): string {
  const random = numbers(kind);
  const word = () => Math.floor(random() * 36 ** 6).toString(36);
  const line = () => `    const ${word()} = await ${word()}(${word()}, ${word()}.${word()});`;
  const frame = (index: number) => ({
    filename: `app/${word()}.js`,
    abs_path: `/srv/app/${word()}.js`,
    function: `step${index}_of_${kind}`,
    module: `app.module${index}`,
    lineno: 10 + index,
    in_app: index % 3 === 0,
    pre_context: [line(), line(), line()],
    context_line: line(),
    post_context: [line(), line(), line()],
    vars: { order: word(), customer: word(), password: word() },
  });
  const event = {
    platform: 'node',
    level: 'error',
    release: 'shop@1.2.3',
    environment: 'production',
    user: { id: String(Math.floor(random() * 1_000)) },
    tags: { region: word(), server: `web-${kind % 5}` },
    request: {
      url: `https://shop.example.com/orders/${word()}`,
      method: 'POST',
      headers: { 'user-agent': word() },
    },
    exception: {
      values: [
        {
          type: `Fault${kind}`,
          value: `the order ${word()} cannot be taken`,
          stacktrace: { frames: Array.from({ length: 40 }, (_, index) => frame(index)) },
        },
      ],
    },
    breadcrumbs: [] as object[],
  };
  while (JSON.stringify(event).length < REPORT_BYTES)
    event.breadcrumbs.push(
      ...Array.from({ length: 10 }, () => ({
        timestamp: 1_700_000_000 + random(),
        category: 'http',
        message: `GET /${word()}/${word()}`,
        data: { status: 200, id: word() },
      })),
    );
  return JSON.stringify(event);
}

/**
 * Each call gives one. The reports are packed once, but for their beginnings, each with an id of its own: gzip takes one
 * part after the other. `first` is how many such ids are taken.
 */
export function reports(first = 0): () => Buffer {
  const rests = Array.from({ length: KINDS }, (_, kind) => gzipSync(`{"type":"event"}\n${eventOf(kind)}\n`));
  let made = first;
  return () => {
    const id = (++made).toString(16).padStart(32, '0');
    return Buffer.concat([gzipSync(`{"event_id":"${id}"}\n`), rests[made % KINDS] ?? Buffer.alloc(0)]);
  };
}
