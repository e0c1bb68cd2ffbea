import type { Bus } from '../bus-schemas/bus.js'
import { decodePingAnswer } from '../bus-schemas/ping.js'
import { askPing } from '../bus-schemas/subjects.js'
import type { Market } from '../core/market.js'
import type { ReadModel } from '../data/read-model.js'

const PROBE_TIMEOUT_MS = 1_000
const CACHED_MS = 1_000

/** What is not ready, by name, with the reason; empty when the venue can do its work. */
export type Missing = Readonly<Record<string, string>>

export interface Readiness {
  /** At most a second old; never rejects. */
  missing(): Promise<Missing>
}

/** Resolves when a part is ready, otherwise rejects with an error whose message says what is wrong. */
type Probe = () => Promise<void>

export interface ReadinessOptions {
  readonly bus: Pick<Bus, 'ask' | 'isConnected'>
  readonly readModel: Pick<ReadModel, 'projectedSeq'>
  readonly markets: readonly Market[]
  readonly executorUrl: URL
}

/** Asks every part of the venue that an order or a transfer needs, all at once. */
export function createReadiness(options: ReadinessOptions): Readiness {
  const probes = Object.entries(probesOf(options))
  let asked: { readonly atMs: number; readonly answer: Promise<Missing> } | undefined

  const askAll = async (): Promise<Missing> => {
    const reasons = await Promise.all(
      probes.map(async ([name, probe]) => [name, await reasonOf(probe)] as const),
    )
    return Object.fromEntries(reasons.filter(([, reason]) => reason !== ''))
  }

  return {
    missing: () => {
      const nowMs = performance.now()
      if (asked === undefined || nowMs - asked.atMs >= CACHED_MS) {
        asked = { atMs: nowMs, answer: askAll() }
      }
      return asked.answer
    },
  }
}

async function reasonOf(probe: Probe): Promise<string> {
  try {
    await probe()
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function probesOf({
  bus,
  readModel,
  markets,
  executorUrl,
}: ReadinessOptions): Record<string, Probe> {
  const enabled = markets.filter((market) => market.enabled)
  const processes = [
    'order-intake',
    ...enabled.map(({ market }) => `matcher-${market}`),
    'chain-reader',
    'projector',
    'ws-fanout',
    'deposit-submitter',
    'withdrawal-submitter',
  ]
  return {
    bus: () => (bus.isConnected() ? Promise.resolve() : Promise.reject(new Error('not connected'))),
    projection: async () => {
      for (const { market } of enabled) readModel.projectedSeq(market)
      await Promise.resolve()
    },
    ...Object.fromEntries(processes.map((name) => [name, () => ping(bus, name)])),
    executor: () => probeHttp(new URL('/readyz', executorUrl)),
  }
}

async function ping(bus: Pick<Bus, 'ask'>, name: string): Promise<void> {
  const answer = decodePingAnswer(await bus.ask(askPing(name), new Uint8Array(), PROBE_TIMEOUT_MS))
  if (!answer.ready) throw new Error(answer.detail)
}

async function probeHttp(url: URL): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) })
  const text = await response.text()
  if (!response.ok) throw new Error(reasonIn(text) ?? `answered ${response.status}`)
}

/** What the part itself says in `{error}`. */
function reasonIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown }
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}
