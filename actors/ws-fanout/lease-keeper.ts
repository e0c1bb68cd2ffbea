import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { CancelsAnswer, CancelsKind } from '../../bus-schemas/cancels.js'
import type { Address } from '../../core/action.js'
import { leaseOf } from '../../core/engine/lease-id.js'
import type { Order } from '../../core/engine/order.js'
import { cancelsRefusals } from '../../core/entry/order-refusals.js'
import { refusals } from '../../core/entry/refusals.js'
import { askOneMarket } from '../../runtime/bus/ask-intake.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { Running } from '../../runtime/process/process.js'
import { MAX_LEASES } from './limits.js'

const RETRY_MS = 1_000

/** The part of a lease that one socket holds. */
export interface HeldPart {
  /** What the orders of the socket name. */
  readonly leaseId: string
  /** How long they outlive the process, for all sockets of the owner: the least that one of them has asked for. */
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
 * one asks, when one asks for less time, and when half of it is spent.
 */
export interface LeaseKeeper extends Running {
  /** Resolves once every market holds the lease; undefined when one does not, or there are too many owners. */
  hold(options: PartOptions): Promise<HeldPart | undefined>
  /** A market is listed from now on: every lease is opened there, however often that takes. */
  widen(market: string): void
  /** A market has taken an order under a lease. */
  onPlaced(market: string, order: Order): void
  /** Asks every market; undefined for one that does not answer. */
  readonly ask: Ask
}

export interface LeaseKeeperOptions {
  readonly bus: Pick<Bus, 'ask' | 'isConnected'>
  readonly log: Logger
  /** Most owners at once. */
  readonly maxLeases?: number
}

/** What is asked of each market. */
interface Asking {
  readonly kind: CancelsKind
  readonly owner: Address
  readonly markets: readonly string[]
  readonly body: object
}

type Ask = (asking: Asking) => Promise<(CancelsAnswer | undefined)[]>

/** One part of a lease. */
interface Part {
  readonly onEnded: () => void
  /** Markets that have taken an order under it. */
  readonly markets: Set<string>
}

/** A lease in the logs of these markets. */
interface Held {
  readonly owner: Address
  readonly leaseId: string
  /** By what follows the lease's id in theirs; those of sockets that are gone are not among them. */
  readonly parts: Map<string, Part>
  seconds: number
  markets: readonly string[]
  timer: NodeJS.Timeout | undefined
  /** Whether all markets have opened it. */
  opened: Promise<boolean>
  made: number
}

export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  return new Keeper(options)
}

class Keeper implements LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  readonly #byOwner = new Map<Address, Held>()
  readonly #byId = new Map<string, Held>()
  readonly #ending = new Set<Promise<unknown>>()

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  readonly ask: Ask = ({ kind, owner, markets, body }) =>
    Promise.all(
      markets.map((market) => {
        const request_id = randomUUID()
        const sent = { request_id, kind, market, body: JSON.stringify(body), authenticated: owner }
        return askOneMarket(this.#options.bus, sent)
      }),
    )

  async hold({ owner, seconds, markets, onEnded }: PartOptions): Promise<HeldPart | undefined> {
    const held = this.#byOwner.get(owner) ?? this.#begin(owner, seconds, markets)
    if (held === undefined) return undefined
    held.made += 1
    const suffix = held.made.toString(16).padStart(8, '0')
    held.parts.set(suffix, { onEnded, markets: new Set() })
    const isHeld = (await held.opened) && (await this.#shorten(held, seconds))
    if (isHeld && held.parts.has(suffix)) {
      return {
        leaseId: held.leaseId + suffix,
        seconds: () => held.seconds,
        leave: () => this.#leave(held, suffix),
      }
    }
    this.#leave(held, suffix)
    return undefined
  }

  widen(market: string): void {
    for (const held of this.#byId.values()) this.#report(held, this.#openLater(held, market))
  }

  onPlaced(market: string, { owner, leaseId = '' }: Order): void {
    const held = this.#byId.get(leaseOf(leaseId))
    if (held === undefined || held.owner !== owner) return
    const part = held.parts.get(leaseId.slice(held.leaseId.length))
    if (part !== undefined) part.markets.add(market)
    // It was on its way when its socket was closed.
    else if (leaseId !== held.leaseId) this.#endPart(held, leaseId, [market])
  }

  async stop(): Promise<void> {
    for (const held of [...this.#byId.values()]) this.#drop(held)
    await Promise.all(this.#ending)
  }

  #begin(owner: Address, seconds: number, markets: readonly string[]): Held | undefined {
    const { maxLeases = MAX_LEASES } = this.#options
    if (this.#byOwner.size >= maxLeases) return undefined
    const held: Held = {
      ...{ owner, leaseId: randomBytes(16).toString('hex'), parts: new Map(), seconds, markets },
      ...{ timer: undefined, opened: Promise.resolve(false), made: 0 },
    }
    this.#byOwner.set(owner, held)
    this.#byId.set(held.leaseId, held)
    held.opened = this.#open(held)
    return held
  }

  async #open(held: Held): Promise<boolean> {
    const answers = await this.#askFor('open_lease', held).catch((error: unknown) => {
      this.#options.log.error({ err: error, lease: held.leaseId }, 'a lease could not be opened')
      return [undefined]
    })
    const isOpen = this.#isHeld(held) && answers.every((each) => each?.kind === 'lease')
    // Also when it was dropped meanwhile: the question that opened it may have come later than the one that ended it.
    if (isOpen) this.#renewLater(held)
    else this.#drop(held)
    return isOpen
  }

  /** Writes the lease at once for a socket that has asked for less; true when all markets hold it as short. */
  async #shorten(held: Held, seconds: number): Promise<boolean> {
    if (held.seconds <= seconds) return true
    held.seconds = seconds
    clearTimeout(held.timer)
    return (await this.#renew(held)) && this.#isHeld(held)
  }

  /** What is in the log holds for twice as long as it takes until it is written again. */
  #renewLater(held: Held, inMs = held.seconds * 500): void {
    clearTimeout(held.timer)
    held.timer = setTimeout(() => this.#report(held, this.#renew(held)), inMs)
  }

  /** Whether all markets hold it anew. */
  async #renew(held: Held): Promise<boolean> {
    const answers = await this.#askFor('renew_lease', held)
    if (!this.#isHeld(held)) return false
    const hasEnded = answers.some((each) => codeOf(each) === cancelsRefusals.leaseEnded.code)
    const isRenewed = answers.every((each) => each?.kind === 'lease')
    if (hasEnded) this.#end(held)
    else this.#renewLater(held, isRenewed ? undefined : RETRY_MS)
    return isRenewed
  }

  /** It has ended in one market: in the others it ends as well. */
  #end(held: Held): void {
    const parts = [...held.parts.values()]
    this.#drop(held)
    for (const { onEnded } of parts) onEnded()
  }

  /** Asks a market again until it has opened the lease; one that has ended meanwhile is ended there as well. */
  async #openLater(held: Held, market: string): Promise<void> {
    while (this.#isHeld(held) && !held.markets.includes(market)) {
      const [answer] = await this.#askFor('open_lease', { ...held, markets: [market] })
      if (!this.#isHeld(held)) {
        return void (await this.#askFor('end_lease', { ...held, markets: [market] }))
      }
      if (answer?.kind === 'lease') held.markets = [...new Set([...held.markets, market])]
      else await delay(RETRY_MS, undefined, { ref: false })
    }
  }

  #leave(held: Held, suffix: string): void {
    const part = held.parts.get(suffix)
    if (part === undefined) return
    held.parts.delete(suffix)
    if (held.parts.size === 0) this.#drop(held)
    else if (this.#isHeld(held)) this.#endPart(held, held.leaseId + suffix, [...part.markets])
  }

  /** Has the orders under one part cancelled, however often that takes: the lease is renewed for the others meanwhile. */
  #endPart(held: Held, leaseId: string, markets: readonly string[]): void {
    const end = async (): Promise<void> => {
      let left = markets
      while (this.#isHeld(held) && left.length > 0) {
        const asked = left
        const answers = await this.#askFor('end_lease', { ...held, leaseId, markets: asked })
        left = asked.filter((_, at) => answers[at] === undefined || answers[at].kind === 'refused')
        if (left.length > 0) await delay(RETRY_MS, undefined, { ref: false })
      }
    }
    this.#report(held, end())
  }

  /** Ends it with its orders. */
  #drop(held: Held): void {
    clearTimeout(held.timer)
    held.parts.clear()
    this.#byId.delete(held.leaseId)
    if (this.#byOwner.get(held.owner) === held) this.#byOwner.delete(held.owner)
    const asked = this.#askFor('end_lease', held).catch((error: unknown) => {
      // It ends by itself when its time is over.
      this.#options.log.warn({ err: error, lease: held.leaseId }, 'a lease could not be ended')
    })
    this.#ending.add(asked)
    void asked.then(() => this.#ending.delete(asked))
  }

  #isHeld(held: Held): boolean {
    return this.#byId.get(held.leaseId) === held
  }

  #askFor(
    kind: CancelsKind,
    { owner, leaseId, seconds, markets }: Pick<Held, 'owner' | 'leaseId' | 'seconds' | 'markets'>,
  ): ReturnType<Ask> {
    return this.ask({ kind, owner, markets, body: { lease_id: leaseId, seconds } })
  }

  /** A lease that cannot be kept has ended. */
  #report(held: Held, work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#options.log.error({ err: error, lease: held.leaseId }, 'a lease could not be kept')
      if (this.#isHeld(held)) this.#end(held)
    })
  }
}

const codeOf = (answer: CancelsAnswer | undefined): string | undefined =>
  answer?.kind === 'refused' ? answer.refusal.code : refusals.cancelTarget.code
