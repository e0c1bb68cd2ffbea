import { decodeRegistration, type Registration } from '../../bus-schemas/register.js'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { registerStream } from '../../bus-schemas/subjects.js'
import { CannotStart } from '../../core/cannot-start.js'
import type { Market } from '../../core/model/market.js'
import { marketOf, withEntries, type MarketEntries } from '../../core/contracts/market-register.js'
import type { Logger } from '../process/log.js'
import { stateOrEmpty, type Bus, type BusMessage, type Subscription } from './bus.js'
import { assertReadable } from './stream-versions.js'

/** The only reader of the register of markets: every process follows it from here. */

/** The register as of one of its messages. */
export interface ReadRegister {
  readonly entries: MarketEntries
  /** That message; 0 while there is none. */
  readonly seq: number
}

/** Messages per read; each may be large. */
const READ_CHUNK = 16

/** The register as it stands, empty where it does not exist. Throws BusUnavailable. */
export async function readRegister(bus: Pick<Bus, 'read' | 'streamState'>): Promise<ReadRegister> {
  let register: ReadRegister = { entries: new Map(), seq: 0 }
  for await (const message of messagesOf(bus)) register = withMessage(register, message)
  return register
}

/** Every registration, oldest first. Throws BusUnavailable. */
export async function readRegistrations(
  bus: Pick<Bus, 'read' | 'streamState'>,
): Promise<readonly Registration[]> {
  const registrations: Registration[] = []
  for await (const { data } of messagesOf(bus)) registrations.push(decodeRegistration(data))
  return registrations
}

async function* messagesOf(bus: Pick<Bus, 'read' | 'streamState'>): AsyncGenerator<BusMessage> {
  const { lastSeq } = await stateOrEmpty(bus, registerStream)
  let seq = 0
  while (seq < lastSeq) {
    for (const message of await bus.read(registerStream, seq + 1, READ_CHUNK)) {
      yield message
      seq = message.seq
    }
  }
}

const withMessage = ({ entries }: ReadRegister, { seq, data }: BusMessage): ReadRegister => ({
  entries: withEntries(entries, decodeRegistration(data).entries),
  seq,
})

/** The markets of a register, each with the rules with which it opens, in the order of their registration. */
export const marketsIn = ({ entries }: Pick<ReadRegister, 'entries'>): Market[] =>
  Array.from(entries.values(), marketOf)

/** The register has no market: the venue was never started, or the stream is lost. */
export class NoMarkets extends CannotStart {
  override readonly name = 'NoMarkets'
}

/** The markets as they are registered now. Throws NoMarkets, NewerStream, and as readRegister. */
export async function registeredMarkets(
  bus: Pick<Bus, 'read' | 'streamState' | 'streamVersion'>,
): Promise<Market[]> {
  const markets = marketsIn(await readRegister(bus))
  await assertReadable(bus, streamVersions(markets))
  if (markets.length > 0) return markets
  throw new NoMarkets(
    `the stream ${registerStream} has no market: start the venue, or restore the stream`,
  )
}

/** A market that is new, or has other texts. */
export interface RegisteredMarket {
  readonly market: Market
  readonly isNew: boolean
  /** The message that registered it. */
  readonly seq: number
}

export type OnRegistered = (registered: RegisteredMarket) => void | Promise<void>

/** The register of a process. */
export interface MarketRegister extends Subscription {
  /** The markets at the start. */
  readonly markets: readonly Market[]
  /** As it is read by now. */
  readonly now: () => ReadRegister
  /**
   * From now on calls back with each market that was registered since the start, and with each that got other texts, one after
   * the other. At most once.
   */
  watch(onRegistered: OnRegistered): void
}

export interface RegisterOptions {
  readonly bus: Pick<Bus, 'read' | 'streamState' | 'streamVersion' | 'follow'>
  readonly log: Pick<Logger, 'info'>
  /** The register cannot be followed, or a market of it cannot; the process has to end. */
  readonly onError: (error: unknown) => void
}

/**
 * Reads the register and follows it. Waits until it has a market: at the first start of a venue the order intake imports its market
 * file. Throws BusUnavailable, and NewerStream when this build cannot read the streams of a market.
 */
export async function openRegister(options: RegisterOptions): Promise<MarketRegister> {
  const { bus, log, onError } = options
  let register = await readRegister(bus)
  let listen: (listener: OnRegistered) => void = () => undefined
  const listening = new Promise<OnRegistered>((resolve) => (listen = resolve))
  let start: () => void = () => undefined
  const started = new Promise<void>((resolve) => (start = resolve))
  let isOpen = register.seq > 0
  let isOver = false
  /** The listener takes its time for a market; what is read does not wait for it. */
  let telling: Promise<void> = Promise.resolve()
  const tell = async (before: ReadRegister, now: ReadRegister, data: Uint8Array): Promise<void> => {
    const listener = await listening
    for (const { opening } of decodeRegistration(data).entries) {
      const entry = now.entries.get(opening.identity.market)
      if (entry === undefined || isOver) continue
      const isNew = !before.entries.has(opening.identity.market)
      await listener({ market: marketOf(entry), isNew, seq: now.seq })
    }
  }
  const subscription = await bus.follow({
    stream: registerStream,
    fromSeq: register.seq + 1,
    onMessage(message) {
      const before = register
      const now = withMessage(before, message)
      register = now
      if (isOpen) telling = telling.then(() => tell(before, now, message.data)).catch(onError)
      isOpen = true
      start()
    },
    onError,
  })
  if (!isOpen) {
    log.info('waiting for the register of markets')
    await started
  }
  const markets = marketsIn(register)
  await assertReadable(bus, streamVersions(markets))
  return {
    markets,
    now: () => register,
    watch: (listener) => listen(listener),
    async stop() {
      isOver = true
      listen(() => undefined)
      await subscription.stop()
      await telling
    },
  }
}
