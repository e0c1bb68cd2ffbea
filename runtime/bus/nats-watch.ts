import { setTimeout as delay } from 'node:timers/promises'
import type { NatsConnection } from 'nats'
import { StreamMissing } from './bus.js'
import type { NatsStreams } from './nats-streams.js'

const LOOK_EVERY_MS = 1_500
/** One look alone may fall into an election of a stream's leader, which takes up to nine seconds, most often less than five. */
const SILENT_LOOKS = 2

interface Deps {
  readonly connection: NatsConnection
  readonly streams: Pick<NatsStreams, 'known' | 'state'>
  readonly onWarning: (message: string) => void
}

/**
 * Goes to the next server of the cluster when the connected one has no way to the others: a server that is cut off keeps its
 * clients, and acknowledges nothing. Ends with the connection.
 */
export function leaveSilentServer({ connection, streams, onWarning }: Deps): void {
  const answers = async (): Promise<boolean> => {
    const stream = streams.known()
    if (stream === undefined) return true
    return streams.state(stream).then(
      () => true,
      (error: unknown) => error instanceof StreamMissing,
    )
  }
  const watch = async (): Promise<void> => {
    let silent = 0
    while (!connection.isClosed()) {
      silent = (await answers()) ? 0 : silent + 1
      if (silent >= SILENT_LOOKS && !connection.isClosed()) {
        // The client may come back to the same server first: then one more look is enough.
        silent = SILENT_LOOKS - 1
        onWarning(`${connection.getServer()} has lost the cluster: trying the next server`)
        await connection.reconnect()
      }
      await delay(LOOK_EVERY_MS, undefined, { ref: false })
    }
  }
  watch().catch((error: unknown) => onWarning(`the watch of the cluster ended: ${String(error)}`))
}
