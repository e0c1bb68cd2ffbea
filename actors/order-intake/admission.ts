import type { Bus } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import { decodePingAnswer } from '../../bus-schemas/ping.js'
import { askPing, commandsStream } from '../../bus-schemas/subjects.js'

/** Messages of a market's log that its matcher may be behind before orders are refused. */
export const MAX_BEHIND = 5_000
/** Of the bus's storage, in parts of a thousand; the rest is left to cancels and to what the market itself has to say. */
export const MAX_STORED_PERMILLE = 900n
const LOOK_EVERY_MS = 1_000
const PING_TIMEOUT_MS = 1_000

/** What the bus may store and has stored, bytes. */
export interface Storage {
  readonly usedBytes: bigint
  readonly maxBytes: bigint
}

export interface AdmissionOptions {
  readonly bus: Pick<Bus, 'ask' | 'streamState'>
  readonly markets: readonly string[]
  /** Undefined where nobody can tell. */
  readonly readStorage: () => Promise<Storage | undefined>
  readonly log: Logger
  readonly lookEveryMs?: number
}

/** Whether there is room for new orders. Cancels are always taken: they make room. */
export interface Admission {
  /** Why the market takes no order now; what is not known is taken for well. */
  trouble(market: string): string | undefined
  stop(): Promise<void>
}

/** Looks once a second at how full the bus is and how far each matcher is behind its log. */
export function watchAdmission(options: AdmissionOptions): Admission {
  const { markets, log, lookEveryMs = LOOK_EVERY_MS } = options
  const reached = new Map<string, number>()
  const troubles = new Map<string, string>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  const judge = (market: string, trouble: string | undefined): void => {
    if ((trouble === undefined) === (troubles.get(market) === undefined)) return
    if (trouble === undefined) {
      troubles.delete(market)
      log.info({ market }, 'orders are taken again')
    } else {
      troubles.set(market, trouble)
      log.warn({ market, why: trouble }, 'orders are refused')
    }
  }
  const look = async (): Promise<void> => {
    const full = describeFull(await options.readStorage().catch(() => undefined))
    for (const market of markets) {
      judge(
        market,
        full ?? (await lagOf(options, market, reached).catch(() => troubles.get(market))),
      )
    }
  }
  const lookAgain = async (): Promise<void> => {
    await look()
    if (!stopped) timer = setTimeout(lookSoon, lookEveryMs)
  }
  const lookSoon = (): void => {
    looking = lookAgain()
  }
  let looking = lookAgain()
  return {
    trouble: (market) => troubles.get(market),
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await looking
    },
  }
}

function describeFull(storage: Storage | undefined): string | undefined {
  if (storage === undefined || storage.maxBytes <= 0n) return undefined
  const { usedBytes, maxBytes } = storage
  const isFull = usedBytes * 1_000n >= maxBytes * MAX_STORED_PERMILLE
  return isFull ? `the bus has stored ${usedBytes} of ${maxBytes} bytes` : undefined
}

/** A matcher that does not answer is where it was when it last did. */
async function lagOf(
  { bus }: AdmissionOptions,
  market: string,
  reached: Map<string, number>,
): Promise<string | undefined> {
  const { lastSeq } = await bus.streamState(commandsStream(market))
  try {
    const ping = await bus.ask(askPing(`matcher-${market}`), new Uint8Array(), PING_TIMEOUT_MS)
    const { command_seq: commandSeq } = decodePingAnswer(ping).positions
    if (commandSeq !== undefined) reached.set(market, commandSeq)
  } catch {
    // It is down or late; what matters is how much it will find.
  }
  const behind = lastSeq - (reached.get(market) ?? lastSeq)
  return behind > MAX_BEHIND ? `the matcher is ${behind} messages behind its log` : undefined
}
