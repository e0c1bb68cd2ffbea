import { setTimeout as delay } from 'node:timers/promises'
import { AppendRefused, AppendUnknown, type Bus } from '../../bus-schemas/bus.js'
import { decodeCommands, encodeCommandGroup } from '../../bus-schemas/command-message.js'
import { commandsStream, commandsSubject } from '../../bus-schemas/subjects.js'
import type { AccountObservation } from '../../core/account.js'
import type { LoggedCommand } from '../../core/command.js'

/** This writer's name in the command log. */
export const CHAIN_READER_SOURCE = 'chain-reader'
const RETRY_PAUSE_MS = 250
/** Newest messages in which an earlier life's last number is looked for. */
const TAIL_MESSAGES = 2_000
const READ_CHUNK = 250

export interface SayAccountsOptions {
  readonly bus: Pick<Bus, 'append' | 'read' | 'streamState'>
  readonly market: string
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly signal: AbortSignal
  readonly onUnknown: (error: unknown) => void
}

/** Puts observations into a market's log, in order; resolves when they are durable there, rejects once aborted. */
export type SayAccounts = (observations: readonly AccountObservation[]) => Promise<void>

/**
 * An append whose outcome is unknown is repeated with the same numbers, which the matcher takes once. Numbers begin
 * above the clock's microseconds and above what the end of the log holds of an earlier life.
 */
export async function openSayAccounts(options: SayAccountsOptions): Promise<SayAccounts> {
  const { market, nowMs } = options
  let sourceNo = Math.max(await lastOwnNo(options), nowMs() * 1_000)
  return async (observations) => {
    const atMs = nowMs()
    let commands = observations.map((account): LoggedCommand => {
      sourceNo += 1
      const command = { kind: 'AccountObserved', account } as const
      return { source: CHAIN_READER_SOURCE, sourceNo, atMs, command }
    })
    while (commands.length > 0) {
      const { data, count } = encodeCommandGroup(commands)
      await append(options, commandsSubject(market), data)
      commands = commands.slice(count)
    }
  }
}

async function append(
  { bus, signal, onUnknown }: SayAccountsOptions,
  subject: string,
  data: Uint8Array,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      await bus.append(subject, data)
      return
    } catch (error) {
      if (!(error instanceof AppendUnknown || error instanceof AppendRefused)) throw error
      onUnknown(error)
      await delay(RETRY_PAUSE_MS, undefined, { signal })
    }
  }
}

async function lastOwnNo({ bus, market }: SayAccountsOptions): Promise<number> {
  const stream = commandsStream(market)
  const { firstSeq, lastSeq } = await bus.streamState(stream)
  let last = 0
  for (let next = Math.max(firstSeq, lastSeq - TAIL_MESSAGES + 1); next <= lastSeq;) {
    const messages = await bus.read(stream, next, READ_CHUNK)
    for (const { source, sourceNo } of messages.flatMap(({ data }) => decodeCommands(data))) {
      if (source === CHAIN_READER_SOURCE) last = Math.max(last, sourceNo)
    }
    next = (messages.at(-1)?.seq ?? lastSeq) + 1
  }
  return last
}
