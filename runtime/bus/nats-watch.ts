import { setTimeout as delay } from 'node:timers/promises'
import type { NatsConnection } from 'nats'
import type { NatsStreams } from './nats-streams.js'

const LOOK_EVERY_MS = 1_500
/** The election of a stream's leader takes up to nine seconds, most often less: leaving then would do no harm. */
const SILENT_FOR_MS = 5_000

interface WatchDeps {
  readonly connection: NatsConnection
  readonly streams: Pick<NatsStreams, 'answers'>
  readonly onWarning: (message: string) => void
}

/**
 * Goes to the next server of the cluster when the connected one has no way to the others: a server that is cut off keeps its
 * clients, and acknowledges nothing. Ends with the connection.
 */
export function leaveSilentServer({ connection, streams, onWarning }: WatchDeps): void {
  const watch = async (): Promise<void> => {
    let answeredAt = performance.now()
    while (!connection.isClosed()) {
      const askedAt = performance.now()
      if (await streams.answers()) answeredAt = askedAt
      if (performance.now() - answeredAt > SILENT_FOR_MS && !connection.isClosed()) {
        onWarning(`${connection.getServer()} has lost the cluster: trying the next server`)
        await goToNext(connection)
        answeredAt = performance.now()
      }
      await delay(LOOK_EVERY_MS, undefined, { ref: false })
    }
  }
  watch().catch((error: unknown) => onWarning(`the watch of the cluster ended: ${String(error)}`))
}

/** The client's first reconnection is to the server that it left; the second one is to the next. */
async function goToNext(connection: NatsConnection): Promise<void> {
  const left = connection.getServer()
  await connection.reconnect()
  await delay(LOOK_EVERY_MS, undefined, { ref: false })
  if (!connection.isClosed() && connection.getServer() === left) await connection.reconnect()
}
