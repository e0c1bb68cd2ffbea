import { randomBytes, randomUUID } from 'node:crypto'
import type { CancelsReply, CancelsKind } from '../../bus-schemas/cancels.js'
import type { Address } from '../../core/action.js'
import { leaseOf, partOf } from '../../core/engine/lease-id.js'
import { cancelsRefusals } from '../../core/entry/order-refusals.js'
import type { Order } from '../../core/model/order.js'
import { askOneMarket } from '../../runtime/bus/ask-intake.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { MAX_LEASES } from './limits.js'

/** How often `keep` is to be called: a market that did not answer is asked again as soon. */
export const KEEP_EVERY_MS = 500

/** The part of a lease that one socket holds. */
export interface HeldPart {
  /** What the orders of the socket name. */
  readonly leaseId: string
  /** How long they outlive the process at most, for all sockets of the owner. */
  seconds(): number
  /** The socket is gone: its orders are cancelled, and those that are still on their way when they come. */
  leave(): void
}

export interface PartOptions {
  readonly owner: Address
  readonly seconds: number
  /** Every listed market. */
  readonly markets: readonly string[]
  /** The lease has ended in a market: the orders under it are cancelled. */
  readonly onEnded: () => void
}

/**
 * The leases that this process keeps: one for an owner, however many of the owner's sockets ask. It is written when the first
 * one asks, when one asks for less time, and when half of it is spent: for the least that an open socket has asked for.
 */
export interface LeaseKeeper extends RunningProcess {
  /** Resolves once every market holds the lease for no longer than asked; undefined when one does not, or there are too many owners. */
  hold(options: PartOptions): Promise<HeldPart | undefined>
  /** A market is listed from now on: every lease is opened there, however often that takes. */
  widen(market: string): void
  /** A market has taken an order under a lease. */
  onPlaced(market: string, order: Order): void
  /** Writes what is half spent, and asks again where a market did not answer. */
  keep(): void
  /** Asks every market; undefined for one that does not answer. */
  readonly ask: AskMarkets
}

export interface LeaseKeeperOptions {
  readonly bus: Pick<Bus, 'ask' | 'isConnected'>
  readonly log: Logger
  /** Most owners at once. */
  readonly maxLeases?: number
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/** What is asked of each market. */
interface CancelsQuestion {
  readonly kind: CancelsKind
  readonly owner: Address
  readonly markets: readonly string[]
  readonly body: object
}

type AskMarkets = (asking: CancelsQuestion) => Promise<(CancelsReply | undefined)[]>

/** One part of a lease. */
interface LeasePart {
  /** What its socket has asked for. */
  readonly seconds: number
  readonly onEnded: () => void
  /** Markets that have taken an order under it. */
  readonly markets: Set<string>
}

/** A lease in the log of one market. */
interface InMarket {
  isOpen: boolean
  /** The longest for which the market may hold it: what it has written last, or what it was asked for since. */
  seconds: number
  /** When half of it is spent, in monotonic milliseconds. */
  dueMs: number
  writing: Promise<void> | undefined
}

/** Orders of one market under a part that is gone. */
interface EndingPart {
  readonly leaseId: string
  readonly market: string
  isAsked: boolean
  /** Whether one may have come since the market was asked. */
  isLeft: boolean
}

interface HeldLease {
  readonly owner: Address
  readonly leaseId: string
  /** By their id; those of sockets that are gone are not among them. */
  readonly parts: Map<string, LeasePart>
  readonly markets: Map<string, InMarket>
  /** By part and market; no more than have taken an order and do not answer. */
  readonly endings: Map<string, EndingPart>
  /** The least of its parts. */
  seconds: number
  made: number
}

interface MarketLeaseTerms extends Pick<HeldLease, 'owner' | 'leaseId' | 'seconds'> {
  readonly market: string
}

export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  return new Keeper(options)
}

class Keeper implements LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  readonly #byOwner = new Map<Address, HeldLease>()
  readonly #byId = new Map<string, HeldLease>()
  readonly #ending = new Set<Promise<unknown>>()

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  readonly ask: AskMarkets = ({ kind, owner, markets, body }) =>
    Promise.all(
      markets.map((market) => {
        const request_id = randomUUID()
        const sent = { request_id, kind, market, body: JSON.stringify(body), authenticated: owner }
        return askOneMarket(this.#options.bus, sent)
      }),
    )

  async hold({ owner, seconds, markets, onEnded }: PartOptions): Promise<HeldPart | undefined> {
    const held = this.#byOwner.get(owner) ?? this.#begin(owner, markets)
    if (held === undefined) return undefined
    held.made += 1
    const leaseId = partOf(held.leaseId, held.made)
    held.parts.set(leaseId, { seconds, onEnded, markets: new Set() })
    reckon(held)
    let isHeld = false
    try {
      isHeld = (await this.#holdAtMost(held, seconds)) && held.parts.has(leaseId)
    } finally {
      if (!isHeld) this.#leave(held, leaseId)
    }
    if (!isHeld) return undefined
    return {
      leaseId,
      seconds: () => Math.max(held.seconds, ...Array.from(held.markets.values(), mostOf)),
      leave: () => this.#leave(held, leaseId),
    }
  }

  widen(market: string): void {
    for (const held of this.#byId.values()) {
      if (held.markets.has(market)) continue
      held.markets.set(market, unopened())
      this.#report(held, this.#writeDue(held))
    }
  }

  onPlaced(market: string, { owner, leaseId = '' }: Order): void {
    const held = this.#byId.get(leaseOf(leaseId))
    if (held === undefined || held.owner !== owner) return
    const part = held.parts.get(leaseId)
    if (part !== undefined) part.markets.add(market)
    // It was on its way when its socket was closed.
    else if (leaseId !== held.leaseId) this.#endPart(held, leaseId, market)
  }

  keep(): void {
    for (const held of this.#byId.values()) {
      this.#report(held, this.#writeDue(held))
      for (const ending of held.endings.values()) this.#report(held, this.#endOrders(held, ending))
    }
  }

  async stop(): Promise<void> {
    for (const held of [...this.#byId.values()]) this.#drop(held)
    await Promise.all(this.#ending)
  }

  #begin(owner: Address, markets: readonly string[]): HeldLease | undefined {
    const { maxLeases = MAX_LEASES } = this.#options
    if (this.#byOwner.size >= maxLeases) return undefined
    const leaseId = randomBytes(16).toString('hex')
    const held: HeldLease = {
      owner,
      leaseId,
      parts: new Map(),
      endings: new Map(),
      seconds: 0,
      made: 0,
      markets: new Map(markets.map((market) => [market, unopened()])),
    }
    this.#byOwner.set(owner, held)
    this.#byId.set(leaseId, held)
    return held
  }

  /** Whether all markets hold it for at most so long, once that is known. */
  async #holdAtMost(held: HeldLease, seconds: number): Promise<boolean> {
    const markets = (): InMarket[] => [...held.markets.values()]
    const isShort = (): boolean => markets().every((it) => it.isOpen && it.seconds <= seconds)
    // What is being written may be what was asked for before.
    await Promise.all(markets().flatMap(({ writing }) => writing ?? []))
    if (this.#isHeld(held) && !isShort()) await this.#writeDue(held)
    return this.#isHeld(held) && isShort()
  }

  /** Writes it where it is not open, longer than the least of its parts, or half spent; joins what is being written there. */
  async #writeDue(held: HeldLease): Promise<void> {
    const now = this.#elapsedMs()
    const writing: Promise<void>[] = []
    for (const [market, it] of held.markets) {
      if (it.isOpen && it.seconds <= held.seconds && now < it.dueMs) continue
      it.writing ??= this.#write(held, market, it).finally(() => (it.writing = undefined))
      writing.push(it.writing)
    }
    await Promise.all(writing)
  }

  async #write(held: HeldLease, market: string, it: InMarket): Promise<void> {
    const { owner, leaseId, seconds } = held
    const terms = { owner, leaseId, seconds, market }
    const kind = it.isOpen ? 'renew_lease' : 'open_lease'
    const askedMs = this.#elapsedMs()
    it.seconds = Math.max(it.seconds, seconds)
    const answer = await this.#askFor(kind, terms)
    if (!this.#isHeld(held)) {
      // The question that opened it may have come later than the one that ended it.
      if (!it.isOpen) await this.#askFor('end_lease', terms)
    } else if (answer?.kind === 'lease') {
      it.isOpen = true
      it.seconds = seconds
      it.dueMs = askedMs + seconds * 500
    } else if (hasEnded(answer)) this.#end(held)
  }

  /** Ends the lease in every market, because it has ended in one of them, and tells the sockets. */
  #end(held: HeldLease): void {
    const parts = [...held.parts.values()]
    this.#drop(held)
    for (const { onEnded } of parts) onEnded()
  }

  #leave(held: HeldLease, leaseId: string): void {
    const part = held.parts.get(leaseId)
    if (part === undefined) return
    held.parts.delete(leaseId)
    if (held.parts.size === 0) return this.#drop(held)
    reckon(held)
    for (const market of part.markets) this.#endPart(held, leaseId, market)
  }

  /** Has the orders under one part cancelled in a market, however often that takes: the lease is renewed for the others meanwhile. */
  #endPart(held: HeldLease, leaseId: string, market: string): void {
    const key = `${leaseId} ${market}`
    const ending = held.endings.get(key) ?? { leaseId, market, isAsked: false, isLeft: true }
    ending.isLeft = true
    held.endings.set(key, ending)
    this.#report(held, this.#endOrders(held, ending))
  }

  /** Asks once at a time, and again for an order that came meanwhile. */
  async #endOrders(held: HeldLease, ending: EndingPart): Promise<void> {
    if (ending.isAsked) return
    const { leaseId, market } = ending
    ending.isAsked = true
    let isAnswered = true
    while (isAnswered && ending.isLeft && this.#isHeld(held)) {
      ending.isLeft = false
      const answer = await this.#askFor('end_lease', { ...held, leaseId, market })
      isAnswered = answer !== undefined && answer.kind !== 'refused'
    }
    ending.isAsked = false
    if (isAnswered) held.endings.delete(`${leaseId} ${market}`)
    else ending.isLeft = true
  }

  /** Ends it with its orders. */
  #drop(held: HeldLease): void {
    held.parts.clear()
    this.#byId.delete(held.leaseId)
    if (this.#byOwner.get(held.owner) === held) this.#byOwner.delete(held.owner)
    const markets = [...held.markets.keys()]
    const ending = markets.map((market) => this.#askFor('end_lease', { ...held, market }))
    const asked = Promise.all(ending).catch((error: unknown) => {
      // It ends by itself when its time is over.
      this.#options.log.warn({ err: error, lease: held.leaseId }, 'a lease could not be ended')
    })
    this.#ending.add(asked)
    void asked.then(() => this.#ending.delete(asked))
  }

  #elapsedMs(): number {
    const { elapsedMs = () => performance.now() } = this.#options
    return elapsedMs()
  }

  #isHeld(held: HeldLease): boolean {
    return this.#byId.get(held.leaseId) === held
  }

  async #askFor(
    kind: CancelsKind,
    { owner, leaseId, seconds, market }: MarketLeaseTerms,
  ): Promise<CancelsReply | undefined> {
    const body = { lease_id: leaseId, seconds }
    const [answer] = await this.ask({ kind, owner, markets: [market], body })
    return answer
  }

  /** A lease that cannot be kept has ended. */
  #report(held: HeldLease, work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#options.log.error({ err: error, lease: held.leaseId }, 'a lease could not be kept')
      if (this.#isHeld(held)) this.#end(held)
    })
  }
}

const unopened = (): InMarket => ({ isOpen: false, seconds: 0, dueMs: 0, writing: undefined })

const mostOf = ({ seconds }: InMarket): number => seconds

function reckon(held: HeldLease): void {
  held.seconds = Math.min(...Array.from(held.parts.values(), ({ seconds }) => seconds))
}

const hasEnded = (answer: CancelsReply | undefined): boolean =>
  answer?.kind === 'refused' && answer.refusal.code === cancelsRefusals.leaseEnded.code
