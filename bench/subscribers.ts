import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Received, SubscribersTask } from './subscriber-messages.js'

/**
 * A process of its own with many sockets that follow the book. They are minimal, because they run on the measured
 * machine: they read only the length and the sequences of each frame.
 */
const AT_ONCE = 100
const HEAD = Buffer.from('"seq":')
const PREVIOUS = Buffer.from(',"prev_seq":')
const ZERO = 48

interface Counts {
  gaps: number
  duplicates: number
}

/** Unix milliseconds with fractions, on a clock that all processes of the machine share. */
const nowMs = (): number => performance.timeOrigin + performance.now()

async function run(task: SubscribersTask): Promise<void> {
  const { sockets, changes } = task
  const arrivals = new Float64Array(sockets * changes)
  const counts: Counts = { gaps: 0, duplicates: 0 }
  const finished: Promise<void>[] = []
  for (let from = 0; from < sockets; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, sockets - from) }, (_, index) =>
      subscribe(task, counts, arrivals.subarray((from + index) * changes)),
    )
    for (const { ended } of await Promise.all(some)) finished.push(ended)
  }
  process.send?.('subscribed')
  await Promise.all(finished)
  process.send?.('received')
  const [appendedMs] = (await once(process, 'message')) as [readonly number[]]
  const received: Received = { ...counts, tenthsOfMs: histogram(arrivals, changes, appendedMs) }
  process.send?.(received, () => process.exit(0))
}

/** Resolves when the first frame has come; `ended` when the last change's has. */
async function subscribe(
  { port, firstSeq, changes }: SubscribersTask,
  counts: Counts,
  arrivals: Float64Array,
): Promise<{ readonly ended: Promise<void> }> {
  const socket = await upgraded(port)
  const lastSeq = firstSeq + changes - 1
  let before = firstSeq - 1
  let rest: Buffer = Buffer.alloc(0)
  let greeted = (): void => undefined
  let end = (): void => undefined
  const greeting = new Promise<void>((resolve) => (greeted = resolve))
  const ended = new Promise<void>((resolve) => (end = resolve))

  const onPing = (): void => void socket.write(PONG)
  function onFrame(frame: Buffer, at: number): void {
    const start = frame.indexOf(HEAD)
    if (frame[9] !== UPDATE) return greeted()
    const { value: seq, next } = digits(frame, start + HEAD.length)
    const { value: previous } = digits(frame, next + PREVIOUS.length)
    if (seq <= before) counts.duplicates += 1
    else if (seq !== before + 1 || previous !== before) counts.gaps += 1
    before = seq
    arrivals[seq - firstSeq] = at
    if (seq === lastSeq) end()
  }

  socket.once('close', () => {
    if (before !== lastSeq) counts.gaps += 1
    end()
  })
  socket.on('data', (chunk) => {
    const at = nowMs()
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    rest = rest.subarray(eachFrame(rest, { onFrame: (frame) => onFrame(frame, at), onPing }))
  })
  // Resumes at the current sequence, so that there is no snapshot of the book.
  const stream = { channel: 'book', market: 'cNGN-USDC', since_seq: firstSeq - 1 }
  socket.write(masked(JSON.stringify({ op: 'subscribe', ...stream, req_id: '1' })))
  await greeting
  return { ended }
}

interface FrameHandler {
  readonly onFrame: (payload: Buffer) => void
  readonly onPing: () => void
}

/** Calls for each complete frame shorter than 64 KiB; returns where the incomplete rest begins. */
function eachFrame(bytes: Buffer, { onFrame, onPing }: FrameHandler): number {
  let at = 0
  while (at + 2 <= bytes.length) {
    const short = bytes[at + 1] ?? 0
    const start = at + (short === 126 ? 4 : 2)
    const length = short === 126 && start <= bytes.length ? bytes.readUInt16BE(at + 2) : short
    if (start + length > bytes.length) break
    if (bytes[at] === TEXT_FRAME) onFrame(bytes.subarray(start, start + length))
    else if (bytes[at] === PING_FRAME) onPing()
    at = start + length
  }
  return at
}

const TEXT_FRAME = 0x81
const PING_FRAME = 0x89
/** An empty masked pong, as the ping was empty. */
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
/** Index at which `{"type":"update"` differs from other frames. */
const UPDATE = 'u'.charCodeAt(0)

function digits(bytes: Buffer, from: number): { readonly value: number; readonly next: number } {
  let value = 0
  let next = from
  for (; ; next += 1) {
    const digit = (bytes[next] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return { value, next }
    value = value * 10 + digit
  }
}

async function upgraded(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const key = randomBytes(16).toString('base64')
  const lines = [
    'GET /v1/ws HTTP/1.1',
    'Host: bench',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString().startsWith('HTTP/1.1 101')) throw new Error(head.toString())
  return socket
}

/** A short text message, masked with zeros. */
function masked(text: string): Buffer {
  const payload = Buffer.from(text)
  return Buffer.concat([Buffer.from([TEXT_FRAME, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}

/** Histogram of delivery times: count by tenths of a millisecond. */
function histogram(
  arrivals: Float64Array,
  changes: number,
  appendedMs: readonly number[],
): [number, number][] {
  const counts = new Map<number, number>()
  for (const [index, at] of arrivals.entries()) {
    const took = Math.max(0, Math.round((at - (appendedMs[index % changes] ?? 0)) * 10))
    counts.set(took, (counts.get(took) ?? 0) + 1)
  }
  return [...counts]
}

process.once('message', (task) => void run(task as SubscribersTask))
process.once('disconnect', () => process.exit(1))
