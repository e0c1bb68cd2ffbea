import { z } from 'zod'
import { BusUnavailable } from './bus.js'

/** What the monitoring port of nats-server reports. */

const MONITOR_TIMEOUT_MS = 5_000
/** For a metric: it is left out after a second, and a silent server must not take away what the others report. */
const MEASURE_TIMEOUT_MS = 800

const jszAnswer = z.object({
  server_id: z.string(),
  /** While it starts. */
  disabled: z.boolean().optional(),
  /** Absent without a cluster. */
  meta_cluster: z
    .object({ leader: z.string().optional(), cluster_size: z.number().optional() })
    .optional(),
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

export type JszAnswer = z.infer<typeof jszAnswer>

/**
 * Used and available storage of the fullest server that answers; undefined when not known. Throws BusUnavailable when
 * none answers.
 */
export async function readStorage(
  monitorUrls: readonly string[],
): Promise<{ readonly usedBytes: bigint; readonly maxBytes: bigint } | undefined> {
  if (monitorUrls.length === 0) return undefined
  const { storage, config } = fullest(await readAnswering(monitorUrls))
  const maxStorage = config?.max_storage
  if (storage === undefined || maxStorage === undefined) return undefined
  return { usedBytes: BigInt(storage), maxBytes: BigInt(maxStorage) }
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * The directory of the server's streams, when the server runs on this machine; undefined when it does not, or when that is not
 * known. Throws BusUnavailable when the port does not answer.
 */
export async function readStoreDir(monitorUrls: readonly string[]): Promise<string | undefined> {
  const own = monitorUrls.find((url) => LOOPBACK.has(new URL(url).hostname))
  return own === undefined ? undefined : (await readJsz(own)).config?.store_dir
}

/** The reports of the servers that answer; at least one. Throws BusUnavailable. */
async function readAnswering(
  monitorUrls: readonly string[],
  look: MonitorLook = {},
): Promise<JszAnswer[]> {
  const looks = await Promise.allSettled(monitorUrls.map((url) => readJsz(url, look)))
  const answers = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []))
  if (answers.length > 0) return answers
  const [first] = looks
  throw first?.status === 'rejected'
    ? first.reason
    : new BusUnavailable('nats-server has no monitoring port')
}

const fullest = (answers: readonly JszAnswer[]): JszAnswer =>
  answers.reduce((most, each) => (shareUsed(each) > shareUsed(most) ? each : most))

const shareUsed = ({ storage = 0, config }: JszAnswer): number =>
  storage / Math.max(config?.max_storage ?? 0, 1)

/** What the fullest server of the bus stores, in bytes, and the streams of all: of each, its most advanced copy. */
export interface StreamSizes {
  readonly usedBytes: number
  readonly maxBytes: number
  readonly streams: readonly {
    readonly name: string
    readonly bytes: number
    readonly lastSeq: number
  }[]
}

/** Throws BusUnavailable when no server reports it, or none has a monitoring port. */
export async function readStreamSizes(monitorUrls: readonly string[]): Promise<StreamSizes> {
  const look = { query: 'config=1&streams=1', withinMs: MEASURE_TIMEOUT_MS }
  const answers = await readAnswering(monitorUrls, look)
  const { storage, config } = fullest(answers)
  const streams = new Map<string, StreamSizes['streams'][number]>()
  for (const { account_details: accounts = [] } of answers)
    for (const { name, state } of accounts.flatMap(({ stream_detail: details = [] }) => details)) {
      if ((streams.get(name)?.lastSeq ?? -1) >= state.last_seq) continue
      streams.set(name, { name, bytes: state.bytes, lastSeq: state.last_seq })
    }
  return {
    usedBytes: storage ?? 0,
    maxBytes: config?.max_storage ?? 0,
    streams: [...streams.values()],
  }
}

/** Whether the server at this monitoring address reports anything. */
export const isReporting = (monitorUrl: string): Promise<boolean> =>
  readJsz(monitorUrl, { withinMs: MEASURE_TIMEOUT_MS }).then(
    () => true,
    () => false,
  )

interface MonitorLook {
  readonly query?: string
  readonly withinMs?: number
}

/** Its report on JetStream; throws BusUnavailable when it gives none. */
export async function readJsz(
  monitorUrl: string,
  { query = 'config=1', withinMs = MONITOR_TIMEOUT_MS }: MonitorLook = {},
): Promise<JszAnswer> {
  try {
    const answer = await fetch(new URL(`/jsz?${query}`, monitorUrl), {
      signal: AbortSignal.timeout(withinMs),
    })
    return jszAnswer.parse(await answer.json())
  } catch (cause) {
    throw new BusUnavailable(`${monitorUrl} does not report the configuration of nats-server`, {
      cause,
    })
  }
}
