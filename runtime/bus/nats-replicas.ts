import { setTimeout as delay } from 'node:timers/promises'
import { connect, type JetStreamManager } from 'nats'
import { BusMisconfigured, BusUnavailable } from './bus.js'
import { readAccess, type BusPlace } from './nats-access.js'

const CONNECT_WITHIN_MS = 15_000
const REQUEST_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 200
/** A new copy of a stream takes as long as its bytes need to the other server. */
const COPIED_WITHIN_MS = 600_000

export interface ReplicaChange {
  readonly stream: string
  readonly before: number
  readonly after: number
}

/**
 * Stores every stream of the bus, the buckets of claims included, on so many servers of its cluster, one stream after the
 * other. Calls back when all copies of a stream are up to date, and may be repeated after a failure. Writers may go on, but a
 * process that starts with another NATS_REPLICAS refuses the stream. Throws BusUnavailable, and BusMisconfigured when the
 * cluster has too few servers.
 */
export async function changeReplicas(
  place: BusPlace,
  replicas: number,
  onChanged: (change: ReplicaChange) => void,
): Promise<void> {
  const { url } = place
  const access = readAccess(place, 'operator')
  const connection = await connect({ ...access, timeout: CONNECT_WITHIN_MS }).catch(
    (cause: unknown) => {
      throw new BusUnavailable(`the bus at ${url} does not answer`, { cause })
    },
  )
  try {
    const manager = await connection.jetstreamManager({
      timeout: REQUEST_WITHIN_MS,
      checkAPI: false,
    })
    const names: string[] = []
    for await (const name of manager.streams.names()) names.push(name)
    for (const stream of names.sort()) {
      const { num_replicas: before } = (await manager.streams.info(stream)).config
      if (before !== replicas) await update(manager, stream, replicas)
      await untilCopied(manager, stream, replicas)
      onChanged({ stream, before, after: replicas })
    }
  } finally {
    await connection.close()
  }
}

async function update(manager: JetStreamManager, stream: string, replicas: number): Promise<void> {
  try {
    await manager.streams.update(stream, { num_replicas: replicas })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BusMisconfigured(`stream ${stream} cannot be stored on ${replicas} servers: ${why}`, {
      cause,
    })
  }
}

/** Resolves when a leader and all other servers of the stream have everything. */
async function untilCopied(
  manager: JetStreamManager,
  stream: string,
  replicas: number,
): Promise<void> {
  const giveUpAt = performance.now() + COPIED_WITHIN_MS
  for (;;) {
    const info = await manager.streams.info(stream).catch(() => undefined)
    const { leader = '', replicas: others = [] } = info?.cluster ?? {}
    const isLed = leader !== '' || replicas === 1
    if (info !== undefined && isLed && others.length === replicas - 1) {
      if (others.every(({ current, lag }) => current && (lag ?? 0) === 0)) return
    }
    if (performance.now() > giveUpAt) {
      throw new BusUnavailable(
        `stream ${stream} has no up-to-date copies on ${replicas} servers after ${COPIED_WITHIN_MS} ms`,
      )
    }
    await delay(LOOK_EVERY_MS)
  }
}
