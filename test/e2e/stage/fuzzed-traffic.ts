import fc from 'fast-check'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { toJson } from '../../../api-gateway/openapi.js'
import { ExecuteRequest } from '../../../interface/execute.js'
import { clientFrames } from '../../../interface/socket.js'
import {
  fitting,
  hostile,
  nearly,
  resolved,
  torn,
  type Schema,
} from '../../api-gateway/fuzz/arbitrary-json.js'
import {
  fuzzedOperations,
  type FuzzedRequest,
  type RealThings,
} from '../../api-gateway/fuzz/arbitrary-request.js'
import { undocumented } from '../../support/documented.js'
import { connectSocket, type SocketClient } from '../../support/socket-client.js'

/** Requests that are made up, by one seed, and what is wrong with their answers. */

const AT_ONCE = 6
const ANSWER_WITHIN_MS = 60_000

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

/** The server may close a connection that was kept just when the next request comes. */
class ClosedBefore extends Error {}

/** Answers of a busy venue that advise to send the same request again: one that stays busy for so many is at fault. */
const MOST_SENT = 30

/**
 * Sends a request as it is, and again for as long as its answer advises that (`Retry-After`), at most MOST_SENT times. Rejects when
 * there is no answer within a minute.
 */
export async function send(base: string, sent: FuzzedRequest): Promise<Answer> {
  for (let times = 1; ; times += 1) {
    const answer = await sendOpen(base, sent)
    const retryAfterSec = answer.headers['retry-after']
    if (answer.status < 500 || retryAfterSec === undefined || times === MOST_SENT) return answer
    await delay(Number(retryAfterSec) * 1_000)
  }
}

function sendOpen(base: string, sent: FuzzedRequest): Promise<Answer> {
  return sendOnce(base, sent).catch((error: unknown) => {
    if (error instanceof ClosedBefore) return sendOpen(base, sent)
    throw error
  })
}

function sendOnce(base: string, sent: FuzzedRequest): Promise<Answer> {
  const { method, path, body } = sent
  const said = `${method} ${path.slice(0, 500)}, sent ${body?.length ?? 0} characters ${body?.slice(0, 500)}`
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  // The path as it is: a URL would resolve its dots.
  const { hostname, port } = new URL(base)
  const place = { agent, hostname, port, path, timeout: ANSWER_WITHIN_MS }
  const options = { ...place, method, headers: { ...type, ...sent.headers } }
  return new Promise((resolve, reject) => {
    const request = httpRequest(options, (reply) => {
      const parts: Buffer[] = []
      reply.on('data', (part: Buffer) => parts.push(part))
      reply.on('error', reject)
      reply.on('end', () =>
        resolve({
          status: reply.statusCode ?? 0,
          headers: reply.headers,
          text: Buffer.concat(parts).toString(),
        }),
      )
    })
    request.on('timeout', () => request.destroy(new Error('no answer')))
    request.on('error', (cause) =>
      reject(
        request.reusedSocket && 'code' in cause && cause.code === 'ECONNRESET'
          ? new ClosedBefore(said, { cause })
          : new Error(`${cause.message}: ${said}`, { cause }),
      ),
    )
    request.end(body)
  })
}

/** Carries out the task for each item, some at once; resolves with the results in order. */
export async function forEach<T, R>(
  items: readonly T[],
  task: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await task(items[at] as T)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}

/** What is wrong with an answer of the gateway. */
export function wrongOf({ method, path, body }: FuzzedRequest, answer: Answer): string[] {
  const { status, text } = answer
  const said = undocumented({ method, path, ...answer })
  if (status < 500) return said
  return [...said, `${method} ${path} -> ${status} ${text}, sent ${body?.slice(0, 4_000)}`]
}

export interface Counts {
  readonly write: number
  readonly read: number
}

/** Requests for every operation of the gateway's document, so many of each. */
export function gatewayRequests(real: RealThings, seed: number, counts: Counts): FuzzedRequest[] {
  const drawn = fuzzedOperations.map(({ isWrite, requests }, at) =>
    fc.sample(requests(real), {
      numRuns: isWrite ? counts.write : counts.read,
      seed: seed + at,
    }),
  )
  // In turn, so that a wrong cancel meets what another operation has placed.
  const longest = Math.max(...drawn.map((each) => each.length))
  return Array.from({ length: longest }, (_, at) => drawn.flatMap((each) => each[at] ?? [])).flat()
}

/** Requests for each route of the executor. */
export function executorRequests(secret: string, seed: number, count: number): FuzzedRequest[] {
  const named: Record<string, Schema> = {}
  const json: Schema = toJson(ExecuteRequest, named as Record<string, Record<string, unknown>>)
  const made = fitting(json, named) as fc.Arbitrary<Record<string, unknown>>
  const object = fc.oneof(made, nearly(made, Object.keys(resolved(json, named).properties ?? {})))
  const text = object.map((each) => JSON.stringify(each))
  const body = fc.oneof(
    text,
    torn(text),
    hostile.map((value) => JSON.stringify(value)),
  )
  const query = fc
    .array(fc.tuple(fc.constantFrom('after', 'limit', 'x'), hostile.map(inQuery)), { maxLength: 3 })
    .map((pairs) =>
      pairs.map(([name, value]) => `${name}=${plain(value.slice(0, 2_000))}`).join('&'),
    )
  const headers = fc.constantFrom<Record<string, string>>(
    { authorization: `Bearer ${secret}` },
    { authorization: `Bearer ${secret}`, 'idempotency-key': 'fuzz' },
    { authorization: 'Bearer x' },
    {},
  )
  const post = fc.record({ headers, body }).map((each) => ({
    method: 'POST',
    path: '/execute',
    ...each,
  }))
  const paths = ['/faults', '/reversals', '/healthz', '/readyz', '/execute', '/x']
  const get = fc.record({ headers, query, path: fc.constantFrom(...paths) }).map((each) => ({
    method: 'GET',
    headers: each.headers,
    path: `${each.path}?${each.query}`,
  }))
  return fc.sample(fc.oneof(post, get), { numRuns: count, seed })
}

/** Text as it is; an object may have a `toString` that is not a function. */
const inQuery = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** Percent-encoded, with what no URL can carry replaced. */
const plain = (text: string): string => encodeURIComponent(Buffer.from(text).toString())

/** Frames of every operation of the socket, as text; `real` are some that would be carried out, by their `op`. */
export function socketFrames(
  real: Readonly<Record<string, readonly Record<string, unknown>[]>>,
  seed: number,
  count: number,
): string[] {
  const frames = Object.entries(clientFrames).map(([op, schema]) => {
    const named: Record<string, Schema> = {}
    const json: Schema = toJson(schema, named as Record<string, Record<string, unknown>>)
    const made = fitting(json, named) as fc.Arbitrary<Record<string, unknown>>
    const taken = real[op] === undefined ? made : fc.constantFrom(...real[op])
    const names = Object.keys(resolved(json, named).properties ?? {})
    return fc.oneof(made, taken, nearly(made, names), nearly(taken, names))
  })
  const text = fc.oneof(...frames).map((frame) => JSON.stringify(frame))
  const any = fc.oneof(
    { weight: 8, arbitrary: text },
    { weight: 2, arbitrary: torn(text) },
    { weight: 1, arbitrary: hostile.map((value) => JSON.stringify(value)) },
  )
  return fc.sample(any, { numRuns: count, seed })
}

/** Codes with which a socket may be closed for what its client has sent. */
const CLOSED_FOR = new Set([1003, 1007, 1008, 1009])
/** Frames between two questions whether the socket is still served. */
const FRAMES_AT_ONCE = 30

/**
 * Sends the frames over one socket after the other, each of which must answer a ping in the end or have been closed for what
 * was sent. `authenticate` gives the first frame of every second socket. Resolves with the number of frames that answered;
 * rejects when one of them is not documented.
 */
export async function sendFrames(
  url: string,
  frames: readonly string[],
  authenticate: () => Promise<object>,
): Promise<number> {
  let answers = 0
  const sendOver = async (socket: SocketClient, some: readonly string[]): Promise<void> => {
    for (const frame of some) socket.send(frame)
    const from = socket.frames.length
    socket.send({ op: 'ping', req_id: 'still there' })
    const code = await Promise.race([
      socket.closed,
      socket.next(({ type, req_id }) => type === 'pong' && req_id === 'still there', from),
    ])
    if (typeof code === 'number' && !CLOSED_FOR.has(code)) throw new Error(`closed with ${code}`)
    answers += socket.frames.length
    socket.ws.terminate()
  }
  for (let at = 0; at < frames.length; at += FRAMES_AT_ONCE) {
    const socket = await connectSocket(url)
    const first = at % (2 * FRAMES_AT_ONCE) === 0 ? [JSON.stringify(await authenticate())] : []
    await sendOver(socket, [...first, ...frames.slice(at, at + FRAMES_AT_ONCE)])
  }
  return answers
}
