import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { eventually } from '../../support/eventually.js'

/** A WebSocket spoken by hand, so that it can be spoken wrongly. */
export interface RawSocket {
  readonly socket: Socket
  /** The answer to the upgrade. */
  readonly head: string
  write(...frames: Buffer[]): void
  /** Resolves with the code of the close frame that came, or with 'cut' when the connection ended without one. */
  closeCode(): Promise<number | 'cut'>
}

export interface RawFrame {
  /** FIN, RSV bits and opcode. */
  readonly first: number
  readonly payload?: Buffer | string
  readonly isMasked?: boolean
}

export const TEXT = 0x1
export const CONTINUATION = 0x0
export const PING = 0x9
export const FIN = 0x80

/** One frame of up to 64 KiB as bytes, masked with zeros by default. */
export function rawFrame({ first, payload = '', isMasked = true }: RawFrame): Buffer {
  const body = Buffer.from(payload)
  const mask = isMasked ? 0x80 : 0
  const length =
    body.length < 126
      ? Buffer.from([first, mask | body.length])
      : Buffer.from([first, mask | 126, body.length >> 8, body.length & 0xff])
  return Buffer.concat([length, isMasked ? Buffer.alloc(4) : Buffer.alloc(0), body])
}

/** The upgrade request, with whatever headers are replaced. */
export function upgradeHead(headers: Readonly<Record<string, string>> = {}): string {
  const all = {
    Host: 'venue',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return ['GET /v1/ws HTTP/1.1', ...lines, '', ''].join('\r\n')
}

/** Connects and resolves with whatever was answered to the upgrade. */
export async function openRaw(
  port: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawSocket> {
  const socket = connect(port, '127.0.0.1')
  let received = Buffer.alloc(0)
  let isOver = false
  socket.on('data', (chunk) => (received = Buffer.concat([received, chunk])))
  socket.on('error', () => undefined)
  socket.on('close', () => (isOver = true))
  socket.write(upgradeHead(headers))
  await eventually(() => isOver || received.includes('\r\n\r\n'))
  const end = received.indexOf('\r\n\r\n') + 4
  const head = received.subarray(0, end).toString()
  const frames = (): Buffer => received.subarray(end)
  return {
    socket,
    head,
    write: (...bytes) => void socket.write(Buffer.concat(bytes)),
    async closeCode() {
      await eventually(() => isOver || closeCodeIn(frames()) !== undefined)
      return closeCodeIn(frames()) ?? 'cut'
    },
  }
}

/** Walks over complete server frames shorter than 64 KiB. */
function closeCodeIn(bytes: Buffer): number | undefined {
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = (bytes[at + 1] ?? 0) & 0x7f
    const start = at + (short === 126 ? 4 : 2)
    const length = short === 126 && at + 4 <= bytes.length ? bytes.readUInt16BE(at + 2) : short
    if (((bytes[at] ?? 0) & 0xf) === 0x8 && start + 2 <= bytes.length) {
      return bytes.readUInt16BE(start)
    }
    at = start + length
  }
  return undefined
}
