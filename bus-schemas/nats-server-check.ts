import { z } from 'zod'
import { BusMisconfigured, BusUnavailable } from './bus.js'

/** The oldest server whose store and consumers behave as this room relies on. */
export const MIN_SERVER_VERSION = '2.10.27'
const MONITOR_TIMEOUT_MS = 5_000

const jszAnswer = z.object({
  server_id: z.string(),
  config: z
    .object({ sync_always: z.boolean().optional(), max_storage: z.number().optional() })
    .optional(),
  storage: z.number().optional(),
})

/** What a server says of itself to whoever connects. */
export interface ServerFacts {
  readonly serverId: string
  readonly version: string
  readonly maxPayload: number
  readonly jetstream: boolean
}

/** Throws BusMisconfigured unless the server is new enough, has JetStream and takes messages of this size. */
export function assertServer(facts: ServerFacts, messageBytes: number): void {
  if (!isAtLeast(facts.version, MIN_SERVER_VERSION)) {
    throw new BusMisconfigured(
      `nats-server ${facts.version} is too old, ${MIN_SERVER_VERSION} is needed`,
    )
  }
  if (!facts.jetstream) throw new BusMisconfigured('nats-server runs without JetStream')
  if (facts.maxPayload < messageBytes) {
    throw new BusMisconfigured(
      `nats-server takes ${facts.maxPayload} bytes a message, ${messageBytes} are needed (max_payload)`,
    )
  }
}

/**
 * Asks the server's monitoring port whether every write is synced before it is acknowledged, which no client can see.
 * Throws BusMisconfigured when it is not, or when the port belongs to another server, BusUnavailable when it is mute.
 */
export async function assertDurable(monitorUrl: string, serverId: string): Promise<void> {
  const { server_id, config } = await readJsz(monitorUrl)
  if (server_id !== serverId) {
    throw new BusMisconfigured(`${monitorUrl} is not the monitoring port of the connected server`)
  }
  if (config?.sync_always !== true) {
    throw new BusMisconfigured(
      'nats-server acknowledges before it syncs: set `sync_interval: always` in its jetstream block',
    )
  }
}

/** How much the server stores and may store; undefined when nobody says. Throws BusUnavailable when it is mute. */
export async function readStorage(
  monitorUrl: string | undefined,
): Promise<{ readonly usedBytes: bigint; readonly maxBytes: bigint } | undefined> {
  if (monitorUrl === undefined) return undefined
  const { storage, config } = await readJsz(monitorUrl)
  const maxStorage = config?.max_storage
  if (storage === undefined || maxStorage === undefined) return undefined
  return { usedBytes: BigInt(storage), maxBytes: BigInt(maxStorage) }
}

async function readJsz(monitorUrl: string): Promise<z.infer<typeof jszAnswer>> {
  try {
    const answer = await fetch(new URL('/jsz?config=1', monitorUrl), {
      signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS),
    })
    return jszAnswer.parse(await answer.json())
  } catch (cause) {
    throw new BusUnavailable(`${monitorUrl} does not tell how nats-server is configured`, { cause })
  }
}

/** Compares dotted versions by their first three numbers; a suffix such as `-beta` is ignored. */
export function isAtLeast(version: string, minimum: string): boolean {
  const parts = (text: string): number[] => text.split(/[.+-]/, 3).map((part) => parseInt(part, 10))
  const wanted = parts(minimum)
  for (const [index, part] of parts(version).entries()) {
    const least = wanted[index] ?? 0
    if (part !== least) return part > least
  }
  return true
}
