import { z } from 'zod'
import { BusUnavailable } from './bus.js'

/** What the monitoring port of nats-server reports. */

const MONITOR_TIMEOUT_MS = 5_000

const jszAnswer = z.object({
  server_id: z.string(),
  config: z
    .object({
      sync_always: z.boolean().optional(),
      max_storage: z.number().optional(),
      store_dir: z.string().optional(),
    })
    .optional(),
  storage: z.number().optional(),
  account_details: z
    .array(
      z.object({
        stream_detail: z
          .array(
            z.object({
              name: z.string(),
              state: z.object({ bytes: z.number(), last_seq: z.number() }),
            }),
          )
          .optional(),
      }),
    )
    .optional(),
})

/** Used and available storage; undefined when not known. Throws BusUnavailable when the port does not answer. */
export async function readStorage(
  monitorUrl: string | undefined,
): Promise<{ readonly usedBytes: bigint; readonly maxBytes: bigint } | undefined> {
  if (monitorUrl === undefined) return undefined
  const { storage, config } = await readJsz(monitorUrl)
  const maxStorage = config?.max_storage
  if (storage === undefined || maxStorage === undefined) return undefined
  return { usedBytes: BigInt(storage), maxBytes: BigInt(maxStorage) }
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * The directory of the server's streams, when the server runs on this machine; undefined when it does not, or when that is not
 * known. Throws BusUnavailable when the port does not answer.
 */
export async function readStoreDir(monitorUrl: string | undefined): Promise<string | undefined> {
  if (monitorUrl === undefined || !LOOPBACK.has(new URL(monitorUrl).hostname)) return undefined
  return (await readJsz(monitorUrl)).config?.store_dir
}

/** What the bus stores, in bytes, and its streams. */
export interface StreamSizes {
  readonly usedBytes: number
  readonly maxBytes: number
  readonly streams: readonly {
    readonly name: string
    readonly bytes: number
    readonly lastSeq: number
  }[]
}

/** Throws BusUnavailable when the server does not report it, or has no monitoring port. */
export async function readStreamSizes(monitorUrl: string | undefined): Promise<StreamSizes> {
  if (monitorUrl === undefined) throw new BusUnavailable('nats-server has no monitoring port')
  const {
    storage,
    config,
    account_details: accounts = [],
  } = await readJsz(monitorUrl, 'config=1&streams=1')
  const streams = accounts.flatMap(({ stream_detail: details = [] }) =>
    details.map(({ name, state }) => ({ name, bytes: state.bytes, lastSeq: state.last_seq })),
  )
  return { usedBytes: storage ?? 0, maxBytes: config?.max_storage ?? 0, streams }
}

/** Its report on JetStream; throws BusUnavailable when it gives none. */
export async function readJsz(
  monitorUrl: string,
  query = 'config=1',
): Promise<z.infer<typeof jszAnswer>> {
  try {
    const answer = await fetch(new URL(`/jsz?${query}`, monitorUrl), {
      signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS),
    })
    return jszAnswer.parse(await answer.json())
  } catch (cause) {
    throw new BusUnavailable(`${monitorUrl} does not report the configuration of nats-server`, {
      cause,
    })
  }
}
