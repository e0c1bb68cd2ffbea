import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP port of loopback in front of another one. */
export interface Relay {
  readonly port: number
  /** Ends every connection and makes no new one, until `heal`. */
  cut(): void
  heal(): void
  close(): Promise<void>
}

export async function openRelay(targetPort: number): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isCut = false
  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    track(near)
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(targetPort, '127.0.0.1')
    track(far)
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
    near.pipe(far)
    far.pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    heal: () => (isCut = false),
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
