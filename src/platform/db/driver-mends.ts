/**
 * The mends of the driver, for three reasons. When a connection of postgres.js 3.4.9 is cut off, whoever holds it may go on
 * with another in its place, in the middle of a transaction; who waits for one may wait for ever; a write that was put off
 * throws outside any request; and what was left over meets the next statement (porsager/postgres #1154, #1208). Bytes travel
 * as hexadecimal text, and are copied five times. And each statement and transaction stays in memory until the whole heap is
 * collected (decision 0015). Drop those that a release has mended.
 */
type Mend = { had: string; has: string; times?: number };

const mends: Record<string, readonly Mend[]> = {
  'connection.js': [
    // A connection that is used again begins with nothing: no statement, no error, nothing to write.
    {
      had: '\n    clearImmediate(nextWriteTimer)\n',
      has: '\n    clearImmediate(nextWriteTimer), chunk = nextWriteTimer = null\n',
      times: 2,
    },
    {
      had: '\n    closedTime = performance.now()\n',
      has: '\n    query = results = errorResponse = null, result = new Result(), closedTime = performance.now()\n',
    },
    // What is asked in one turn of the event loop travels in one write: each write wakes the server.
    { had: '\n    if (fn || chunk.length >= 1024)\n', has: '\n    if (fn || chunk.length >= 65536)\n' },
    // Bytes travel as they are: in hexadecimal they are twice as many, here, on their way and for the server. Many of them,
    // also as a list of parts, are written where they lie: else each statement would copy them five times.
    {
      had: `
  function Bind(parameters, types, statement = '', portal = '') {
`,
      has: `
  function Bind(parameters, types, statement = '', portal = '', formats = []) {
`,
    },
    {
      had: `
          : column.parser === undefined
            ? x.toString('utf8', index, index += length)
`,
      has: `
          : query.isBinary && column.type === 17
            ? Buffer.from(x.subarray(index, index += length))
          : column.parser === undefined
            ? x.toString('utf8', index, index += length)
`,
    },
    {
      had: '.str(portal + b.N).str(statement + b.N).i16(0).i16(parameters.length)\n',
      has: `.str(portal + b.N).str(statement + b.N)
    const isBytes = parameters.map((x, i) => types[i] === 17 && (x instanceof Uint8Array || Array.isArray(x)))
    const cuts = []
    if (isBytes.includes(true)) {
      b.i16(parameters.length)
      isBytes.forEach(x => b.i16(x ? 1 : 0))
    } else
      b.i16(0)
    b.i16(parameters.length)
`,
    },
    {
      had: '\n      type = types[i]\n',
      has: `
      if (isBytes[i]) {
        const parts = [].concat(x)
        const length = parts.reduce((sum, part) => sum + part.length, 0)
        b.i32(length)
        return length < 4096 ? b.raw(Buffer.concat(parts)) : cuts.push({ at: b.i, parts, length })
      }

      type = types[i]
`,
    },
    {
      had: `
    b.i16(0)

    return b.end()
`,
      has: `
    b.i16(formats.length)
    formats.forEach(x => b.i16(x))

    const bound = b.end()
    if (!cuts.length)
      return bound
    bound.writeUInt32BE(cuts.reduce((sum, cut) => sum + cut.length, bound.length - 1), 1)
    const ends = cuts.map(cut => cut.at)
    return [
      bound.subarray(0, ends[0]),
      ...cuts.flatMap((cut, i) => [...cut.parts, bound.subarray(cut.at, ends[i + 1])])
    ]
`,
    },
    {
      had: `
    return Buffer.concat([
      Bind(q.parameters, q.statement.types, q.statement.name, q.cursorName),
      q.cursorFn
        ? Execute('', q.cursorRows)
        : ExecuteUnnamed
    ])
`,
      has: `
    const columns = q.statement.columns || []
    q.isBinary = !q.isRaw && columns.some(x => x.type === 17)
    const formats = q.isBinary ? columns.map(x => x.type === 17 ? 1 : 0) : []
    const bound = Bind(q.parameters, q.statement.types, q.statement.name, q.cursorName, formats)
    const rest = q.cursorFn ? Execute('', q.cursorRows) : ExecuteUnnamed
    return Array.isArray(bound) ? [...bound, rest] : Buffer.concat([bound, rest])
`,
    },
    {
      had: '\n  function write(x, fn) {\n',
      has: `
  function write(x, fn) {
    if (Array.isArray(x) && socket) {
      socket.cork()
      chunk && socket.write(chunk)
      x.slice(0, -1).forEach(part => socket.write(part))
      chunk = x.at(-1)
      const more = nextWrite(fn)
      socket.uncork()
      return more
    }
    if (Array.isArray(x))
      x = Buffer.concat(x)
`,
    },
    // What came between the error and the end of the socket is told too.
    {
      had: '\n    !hadError && (query || sent.length) && ',
      has: '\n    if (query || sent.length) ',
    },
    {
      had: '\n    const x = socket.write(chunk, fn)\n',
      has: `
    if (!socket) {
      const err = Errors.connection('CONNECTION_CLOSED', options, socket)
      chunk = nextWriteTimer = null
      query && queryError(query, err)
      while (sent.length)
        queryError(sent.shift(), err)
      query = null
      return true
    }
    const x = socket.write(chunk, fn)
`,
    },
  ],
  'query.js': [
    // The engine makes a function that is written where it is assigned to a property an old object at once: it would keep
    // its query, with all that it has read, until the whole heap is collected.
    {
      had: `
    this.resolve = x => (this.active = false, resolve(x))
    this.reject = x => (this.active = false, reject(x))
`,
      has: `
    const resolved = x => (this.active = false, resolve(x))
    const rejected = x => (this.active = false, reject(x))
    this.resolve = resolved
    this.reject = rejected
`,
    },
  ],
  'queue.js': [
    // A literal with a getter has a hidden class of its own, which is as old, and holds what the getter sees.
    {
      had: `
function Queue(initial = []) {
  let xs = initial.slice()
  let index = 0

  return {
    get length() {
      return xs.length - index
    },
    remove: (x) => {
      const index = xs.indexOf(x)
      return index === -1
        ? null
        : (xs.splice(index, 1), x)
    },
    push: (x) => (xs.push(x), x),
    shift: () => {
      const out = xs[index++]

      if (index === xs.length) {
        index = 0
        xs = []
      } else {
        xs[index - 1] = undefined
      }

      return out
    }
  }
}
`,
      has: `
function Queue(initial = []) {
  return new Line(initial)
}

class Line {
  constructor(initial) {
    this.xs = initial.slice()
    this.index = 0
  }

  get length() {
    return this.xs.length - this.index
  }

  remove(x) {
    const index = this.xs.indexOf(x)
    return index === -1
      ? null
      : (this.xs.splice(index, 1), x)
  }

  push(x) {
    this.xs.push(x)
    return x
  }

  shift() {
    const out = this.xs[this.index++]

    if (this.index === this.xs.length) {
      this.index = 0
      this.xs = []
    } else {
      this.xs[this.index - 1] = undefined
    }

    return out
  }
}
`,
    },
  ],
  'index.js': [
    // As with a query's: else each transaction would stay in memory.
    {
      had: `
      acc[name] = (x) => new Parameter(x, type.to)
`,
      has: `
      const typedAs = (x) => new Parameter(x, type.to)
      acc[name] = typedAs
`,
    },
    {
      had: `
    c.reserved = () => queue.length
      ? c.execute(queue.shift())
      : move(c, reserved)
    c.reserved.release = true
`,
      has: `
    const proceed = () => queue.length
      ? c.execute(queue.shift())
      : move(c, reserved)
    proceed.release = true
    c.reserved = proceed
`,
    },
    {
      had: `
      c.reserved = () => queries.length
        ? c.execute(queries.shift())
        : move(c, reserved)
`,
      has: `
      const proceed = () => queries.length
        ? c.execute(queries.shift())
        : move(c, reserved)
      c.reserved = proceed
`,
    },
    {
      had: `
      sql.prepare = x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)
`,
      has: `
      const prepared = x => prepare = x.replace(/[^a-z0-9$-_. ]/gi)
      sql.prepare = prepared
`,
    },
    // Who waits for a connection waits in the queue while one is made for them: gone from it when that fails, as nobody
    // would give the next one back, and still in it when the connection is made in the place of one that was cut off.
    {
      had: '\n        const query = { reserve: resolve, reject }\n',
      has: `
        const query = { reserve: resolve, reject: error => (queries.remove(query), reject(error)) }
`,
    },
    {
      had: '\n    queries.length && connect(c, queries.shift())\n',
      has: `
    if (queries.length) {
      const query = queries.shift()
      query.reserve && queries.push(query)
      connect(c, query)
    }
`,
    },
    // A connection that was cut off is nobody's, whether reserved or in a transaction: its holder learns of it, and the
    // pool has it back already, for another request.
    {
      had: '\n    let savepoints = 0\n',
      has: '\n    let gone = null\n    let savepoints = 0\n',
    },
    {
      had: '\n        new Promise((_, reject) => connection.onclose = reject)\n',
      has: `
        new Promise((_, reject) => {
          const cutOff = error => {
            gone = error
            while (queries.length)
              queries.shift().reject(error)
            reject(error)
          }
          connection.onclose = cutOff
        })
`,
    },
    {
      had: `
        c.queue === full
          ? queries.push(q)
`,
      has: `
        gone
          ? q.reject(gone)
          : c.queue === full
          ? queries.push(q)
`,
    },
    {
      had: `
    sql.release = () => {
      c.reserved = null
      onopen(c)
    }
`,
      has: `
    let gone = null
    const cutOff = error => {
      gone = error
      while (queue.length)
        queue.shift().reject(error)
    }
    const release = () => {
      if (gone)
        return
      c.onclose = c.reserved = null
      onopen(c)
    }
    c.onclose = cutOff
    sql.release = release
`,
    },
    {
      had: `
    function handler(q) {
      c.queue === full
        ? queue.push(q)
`,
      has: `
    function handler(q) {
      gone
        ? q.reject(gone)
        : c.queue === full
        ? queue.push(q)
`,
    },
  ],
};

/** The text of a file of the driver with its faults mended; throws for a text that is another one. */
export function mend(file: string, source: string): string {
  let mended = source;
  for (const { had, has, times = 1 } of mends[file] ?? []) {
    const parts = mended.split(had);
    if (parts.length !== times + 1)
      throw new Error(`the driver has changed: see ${import.meta.filename}, and mend it anew`);
    mended = parts.join(has);
  }
  return mended;
}

/** The same by the path of a file; undefined for a file that is none of the driver's. */
export function mendFile(path: string, source: string): string | undefined {
  const file = /\/postgres\/src\/(\w+\.js)$/.exec(path)?.[1];
  return file === undefined ? undefined : mend(file, source);
}

/** The files of the driver that have mends. */
export const mendedFiles: readonly string[] = Object.keys(mends);
