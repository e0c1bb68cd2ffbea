import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Stands between a client and a NATS server, and loses what the server sends when told. */
export interface LossyNats {
  readonly url: string
  /** Loses the next so many messages that come from this stream; everything else passes. */
  lose(stream: string, messages: number): void
  /** How many were lost so far. */
  lost(): number
  stop(): void
}

export async function startLossyNats(serverUrl: string): Promise<LossyNats> {
  const { hostname, port } = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let toLose = { marker: '', left: 0 }
  let lost = 0

  const isLost = (head: string): boolean => {
    if (toLose.left === 0 || !head.includes(toLose.marker)) return false
    toLose = { ...toLose, left: toLose.left - 1 }
    lost += 1
    return true
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => [client, upstream].forEach((each) => each.destroy()))
    }
    client.pipe(upstream)
    let rest: Buffer = Buffer.alloc(0)
    upstream.on('data', (chunk) => {
      const parts = split(Buffer.concat([rest, chunk]))
      rest = parts.rest
      for (const part of parts.whole) if (!isLost(part.head)) client.write(part.bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose(stream, messages) {
      // What a stream's reader is sent names the stream where an acknowledgement would go.
      toLose = { marker: ` $JS.ACK.${stream}.`, left: messages }
    },
    lost: () => lost,
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

interface Part {
  /** Its first line. */
  readonly head: string
  readonly bytes: Buffer
}

/** Cuts what came into the protocol's operations; only messages have more than their line. */
function split(bytes: Buffer): { readonly whole: Part[]; readonly rest: Buffer } {
  const whole: Part[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) break
    const head = bytes.toString('utf8', at, lineEnd)
    const size = /^H?MSG .* (\d+)$/.exec(head)?.[1]
    const end = lineEnd + 2 + (size === undefined ? 0 : Number(size) + 2)
    if (end > bytes.length) break
    whole.push({ head, bytes: bytes.subarray(at, end) })
    at = end
  }
  return { whole, rest: bytes.subarray(at) }
}
