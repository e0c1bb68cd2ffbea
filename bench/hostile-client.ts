import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * A client that uses a gateway up: whole books in a loop, answers that it does not read, uploads that stop, connections
 * without a request. What is closed is opened again. It runs at low priority, because its own work would be another
 * machine's.
 */
export interface HostileTask {
  readonly port: number
  readonly readers: number
  readonly slow: number
  readonly halfOpen: number
  readonly idle: number
}

/** What came back to the readers. */
export interface HostileCounts {
  readonly books: number
  readonly refused: number
}

const LOWEST_PRIORITY = 19
const AGAIN_AFTER_MS = 100
const AT_ONCE = 100
const BOOK = 'GET /v1/book?symbol=cNGN-USDC HTTP/1.1\r\nHost: bench\r\n\r\n'
const HALF = 'POST /v1/orders HTTP/1.1\r\nHost: bench\r\nContent-Length: 900\r\n\r\n{'
const END_OF_HEAD = '\r\n\r\n'

const counts = { books: 0, refused: 0 }

async function run({ port, readers, slow, halfOpen, idle }: HostileTask): Promise<void> {
  setPriority(LOWEST_PRIORITY)
  const still = (text: string, reads: boolean) => async (): Promise<void> => {
    const socket = await opened(port)
    if (text !== '') socket.write(text)
    if (reads) socket.resume()
    socket.once('close', () => void delay(AGAIN_AFTER_MS).then(still(text, reads)))
  }
  await openAll(idle, still('', true))
  await openAll(halfOpen, still(HALF, true))
  await openAll(slow, still(BOOK, false))
  await openAll(readers, async () => readBooks(await opened(port), port))
  process.send?.('ready')
}

async function openAll(count: number, open: () => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, open))
  }
}

/** A connection; another attempt follows one that fails. */
async function opened(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => socket.destroy())
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    if (isOpen && !socket.destroyed) return socket
    await delay(AGAIN_AFTER_MS)
  }
}

/** Asks for the next book as soon as one has arrived, without looking at `Retry-After`. */
function readBooks(socket: Socket, port: number): void {
  let missing = 0
  let head = ''
  socket.write(BOOK)
  socket.on('data', (chunk: Buffer) => {
    if (missing > 0) missing -= chunk.length
    else {
      head += chunk.toString('latin1')
      const end = head.indexOf(END_OF_HEAD)
      if (end < 0) return
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
      missing = end + END_OF_HEAD.length + length - head.length
      if (head.startsWith('HTTP/1.1 200')) counts.books += 1
      else counts.refused += 1
      head = ''
    }
    if (missing <= 0) socket.write(BOOK)
  })
  socket.once('close', () => {
    void delay(AGAIN_AFTER_MS).then(async () => readBooks(await opened(port), port))
  })
}

process.on('message', (message: HostileTask | 'counts') => {
  if (message === 'counts') process.send?.(counts)
  else void run(message)
})
process.once('disconnect', () => process.exit(0))
