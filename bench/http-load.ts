import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A request in wire form. */
export type RequestBytes = Buffer

const STATUS_AT = 9
const ACCEPTED_WITHIN_MS = 250
/** Shorter than the server keeps an idle connection. */
const IDLE_MS = 4_000
const END_OF_HEAD = '\r\n\r\n'

/** A `POST` of JSON text. */
export function postOf(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): RequestBytes {
  const text = JSON.stringify(body)
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: bench',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.from(`${lines.join('\r\n')}${END_OF_HEAD}${text}`)
}

/** The same request under an id of the caller's. */
export function withRequestId(request: RequestBytes, id: string): RequestBytes {
  const end = request.indexOf('\r\n') + 2
  const header = Buffer.from(`X-Request-Id: ${id}\r\n`)
  return Buffer.concat([request.subarray(0, end), header, request.subarray(end)])
}

interface Answer {
  readonly status: number
  readonly closes: boolean
  readonly text: string
}

/** Keep-alive connections with one request at a time; minimal, because they run on the measured machine. */
export interface HttpLoad {
  /**
   * Opens connections until `count` are idle, while the server is idle: a busy one accepts one per turn of its event
   * loop, so that the last would wait for seconds.
   */
  open(count: number): Promise<void>
  /** Sends a request on a free connection; resolves with the body of its answer, and rejects when its status is not accepted. */
  send(request: RequestBytes): Promise<string>
  /** Closes idle connections before the server's own timeout does so during a measurement. */
  closeIdle(): void
}

/**
 * Opens at most `connections` connections; further requests wait. A caller that learns the outcome of a request
 * elsewhere may accept 500 too: it means that the outcome is unknown after a timeout.
 */
export function createHttpLoad(
  port: number,
  connections: number,
  accepted: readonly number[] = [200],
): HttpLoad {
  const idle: { readonly socket: Socket; readonly sinceMs: number }[] = []
  const waiting: (() => void)[] = []
  let open = 0

  const fresh = async (): Promise<Socket> => {
    open += 1
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    await once(socket, 'connect')
    return socket
  }
  const take = async (): Promise<Socket> => {
    while (idle.length === 0 && open >= connections) {
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    const dueMs = performance.now() - IDLE_MS
    const old = idle.findIndex(({ sinceMs }) => sinceMs > dueMs)
    for (const { socket } of idle.splice(0, old < 0 ? idle.length : old)) {
      open -= 1
      socket.destroy()
    }
    return idle.pop()?.socket ?? fresh()
  }
  const giveBack = (socket: Socket, closes: boolean): void => {
    if (closes) {
      open -= 1
      socket.destroy()
    } else idle.push({ socket, sinceMs: performance.now() })
    waiting.shift()?.()
  }
  return {
    open: async (count) => {
      const missing = Math.min(count, connections) - idle.length
      const opened = await Promise.all(Array.from({ length: Math.max(missing, 0) }, fresh))
      await delay(ACCEPTED_WITHIN_MS)
      for (const socket of opened) giveBack(socket, false)
    },
    send: async (request) => {
      const socket = await take()
      socket.write(request)
      const { status, closes, text } = await answerOf(socket)
      giveBack(socket, closes)
      if (!accepted.includes(status)) throw new Error(`answered ${status}: ${text}`)
      return text
    },
    closeIdle: () => {
      open -= idle.length
      for (const { socket } of idle.splice(0)) socket.destroy()
    },
  }
}

function answerOf(socket: Socket): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = ''
    const over = (): void => {
      socket.off('data', onData)
      socket.off('close', onClose)
      socket.off('error', onClose)
    }
    const onClose = (): void => {
      over()
      reject(new Error(`the connection was closed after ${text.length} characters`))
    }
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1')
      const end = text.indexOf(END_OF_HEAD)
      if (end < 0) return
      const head = text.slice(0, end).toLowerCase()
      const length = Number(/content-length: (\d+)/.exec(head)?.[1])
      if (text.length < end + END_OF_HEAD.length + length) return
      over()
      const status = Number(text.slice(STATUS_AT, STATUS_AT + 3))
      resolve({ status, closes: head.includes('connection: close'), text: text.slice(end) })
    }
    socket.on('data', onData)
    socket.on('close', onClose)
    socket.on('error', onClose)
  })
}

/** Result of a load: its duration and that of each request. */
export interface Loaded {
  /** When it began, unix milliseconds with fractions. */
  readonly startedAtMs: number
  readonly wallMs: number
  readonly latenciesMs: readonly number[]
}

/**
 * Sends all requests with bounded concurrency, each as soon as an earlier one is answered; leaves no connection open.
 */
export async function saturate(
  load: HttpLoad,
  requests: readonly RequestBytes[],
  atOnce: number,
): Promise<Loaded> {
  await load.open(atOnce)
  const latenciesMs: number[] = []
  const start = performance.now()
  let next = 0
  const worker = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const sentAt = performance.now()
      await load.send(request)
      latenciesMs.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const wallMs = performance.now() - start
  load.closeIdle()
  return { startedAtMs: performance.timeOrigin + start, wallMs, latenciesMs }
}

/**
 * Sends the requests at a constant rate, without waiting for answers; each is timed from its scheduled time. The durations
 * are in the order of the requests.
 */
export async function atPace(
  load: HttpLoad,
  requests: readonly RequestBytes[],
  perSecond: number,
): Promise<Loaded> {
  const start = performance.now()
  const latenciesMs: number[] = []
  const sending: Promise<void>[] = []
  const sendDue = (): void => {
    const due = Math.min(requests.length, ((performance.now() - start) * perSecond) / 1000)
    while (sending.length < due) {
      const dueAt = start + (sending.length * 1000) / perSecond
      const at = sending.length
      const sent = load.send(requests[at] as RequestBytes)
      sending.push(sent.then(() => void (latenciesMs[at] = performance.now() - dueAt)))
    }
  }
  while (sending.length < requests.length) {
    sendDue()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(sending)
  const wallMs = performance.now() - start
  load.closeIdle()
  return { startedAtMs: performance.timeOrigin + start, wallMs, latenciesMs }
}
