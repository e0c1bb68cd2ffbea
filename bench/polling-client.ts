import { Agent, get, type RequestOptions } from 'node:http'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'

/**
 * Clients that each read the whole book once a second, compressed, on a connection and from an address of their own. They run
 * at low priority, because their work would be other machines'.
 */
export interface PollingTask {
  readonly port: number
  readonly pollers: number
}

/** What came back to them. */
export interface PollingCounts {
  readonly books: number
  readonly refused: number
  readonly bytes: number
}

const LOWEST_PRIORITY = 19
const EVERY_MS = 1_000
const PATH = '/v1/book?symbol=cNGN-USDC'

const counts = { books: 0, refused: 0, bytes: 0 }

async function poll(port: number, address: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { 'Accept-Encoding': 'gzip', 'X-Forwarded-For': address }
  for (;;) {
    const dueAt = performance.now() + EVERY_MS
    const { status, bytes } = await read({ port, agent, headers, path: PATH })
    if (status === 200) counts.books += 1
    else counts.refused += 1
    counts.bytes += bytes
    await delay(Math.max(0, dueAt - performance.now()))
  }
}

/** Once more when the server has closed the kept connection just before. */
function read(options: RequestOptions): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const request = get(options, (answer) => {
      buffer(answer).then(
        ({ length: bytes }) => resolve({ status: answer.statusCode ?? 0, bytes }),
        reject,
      )
    })
    request.on('error', (error) => {
      if (request.reusedSocket) resolve(read(options))
      else reject(error)
    })
  })
}

process.on('message', (message: PollingTask | 'counts') => {
  if (message === 'counts') {
    process.send?.(counts)
    return
  }
  setPriority(LOWEST_PRIORITY)
  const { port, pollers } = message
  for (let number = 0; number < pollers; number += 1) {
    // They do not all ask at the same moment.
    void delay((number * EVERY_MS) / pollers).then(() => poll(port, `10.0.0.${number + 1}`))
  }
  void delay(EVERY_MS).then(() => process.send?.('ready'))
})
process.once('disconnect', () => process.exit(0))
