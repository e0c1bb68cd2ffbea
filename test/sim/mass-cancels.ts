import {
  decodeCancelsAnswer,
  encodeCancelsRequest,
  type CancelsReply,
  type CancelsRequest,
} from '../../bus-schemas/cancels.js'
import { askCancels } from '../../bus-schemas/subjects.js'
import type { Address, Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import type { BusLine } from './bus-line.js'
import { cancelAllDigestOf } from './contracts.js'
import type { Random } from './random.js'
import type { SentOrder, Trader } from './traders.js'
import type { Actor, World } from './world.js'

/** What must have come of an order once the market's time has passed this moment: it is not active any more. */
export interface Doom {
  readonly orderId: string
  readonly fromMs: number
  readonly why: string
}

/** Cancels of many orders and leases of the simulated traders. */
export interface MassCancels {
  /** Does one of what a trader may do, picked at random. */
  act(): void
  /** The lease that an order of this owner names, if the owner has opened one. */
  leaseOf(owner: Address, market: string): string | undefined
  /** Orders that must end, as far as the venue has answered. */
  dooms(): readonly Doom[]
}

export interface MassCancelsParts {
  readonly actor: Actor
  readonly world: World
  readonly random: Random
  readonly line: BusLine
  readonly traders: readonly Trader[]
  readonly markets: readonly Market[]
  readonly sent: readonly SentOrder[]
  readonly sign: (trader: Trader, digest: Hex) => Hex
  readonly onCancelled: (orderId: string, market: string, feedSeq: number) => void
}

interface Opened {
  readonly id: string
  readonly endsAtMs: number
}

const PATIENCE_MS = 3_000
const LEASES_SEC = [10, 12, 20, 40]

export function createMassCancels(parts: MassCancelsParts): MassCancels {
  const { world, actor, random, line, traders, markets, sent } = parts
  const opened = new Map<string, Opened>()
  const dooms: Doom[] = []
  /** When a dead-man switch may end at the latest, whatever became of the last question, and what it then cancels. */
  const switches = new Map<string, { readonly endsAtMs: number; readonly orderIds: string[] }>()
  let leases = 0

  const ask = (
    request: Omit<CancelsRequest, 'request_id'>,
    onAnswer: (answer: CancelsReply) => void,
  ): void => {
    const data = encodeCancelsRequest({ request_id: 'r', ...request })
    line.bus.ask(askCancels, data, PATIENCE_MS).then(
      (answer) => onAnswer(decodeCancelsAnswer(answer)),
      // What became of it is not known; nothing is expected then.
      () => undefined,
    )
  }
  /** Orders that the venue has confirmed by now: those of an owner in a market. */
  const confirmed = (owner: Address, market: string): string[] =>
    sent
      .filter((it) => it.accepted && it.owner === owner && it.market === market)
      .map(({ orderId }) => orderId)
  const doom = (orderIds: readonly string[], fromMs: number, why: string): void => {
    for (const orderId of orderIds) dooms.push({ orderId, fromMs, why })
  }
  const take = (answer: CancelsReply, market: string): void => {
    if (answer.kind !== 'cancels') return
    for (const outcome of answer.outcomes) {
      if (outcome.kind === 'cancelled') {
        parts.onCancelled(outcome.orderId, market, answer.feed_seq)
      }
    }
  }

  const acts: Readonly<Record<string, (trader: Trader, market: string) => void>> = {
    cancelAll(trader, market) {
      const { owner } = trader
      const issuedAt = BigInt(Math.floor(world.nowMs() / 1_000))
      const terms = { owner, signer: owner, issuedAt, expiry: issuedAt + 60n }
      const scope = `market=${market}`
      const digest = cancelAllDigestOf({ ...terms, scope })
      const body = {
        owner_address: owner,
        signer_address: owner,
        market,
        reason: 'cancel_all',
        issued_at: `${issuedAt}`,
        expiry: `${terms.expiry}`,
        signature: parts.sign(trader, digest),
      }
      const before = confirmed(owner, market)
      ask({ kind: 'cancel_all', market, body: JSON.stringify(body) }, (answer) => {
        take(answer, market)
        if (answer.kind === 'cancels') doom(before, world.nowMs(), 'all are cancelled')
      })
    },
    cancelList({ owner }, market) {
      const order_ids = confirmed(owner, market).slice(-5)
      if (order_ids.length === 0) return
      const body = JSON.stringify({ owner_address: owner, order_ids, reason: 'cancel_all' })
      ask({ kind: 'cancel_orders', market, body, authenticated: owner }, (answer) => {
        take(answer, market)
        if (answer.kind === 'cancels') doom(order_ids, world.nowMs(), 'it was in a list')
      })
    },
    cancelAllAfter({ owner }, market) {
      const seconds = random.pick(LEASES_SEC)
      const body = JSON.stringify({ owner_address: owner, seconds, market })
      const before = confirmed(owner, market)
      const key = `${owner} ${market}`
      const { endsAtMs = 0, orderIds = [] } = switches.get(key) ?? {}
      const mayEndAtMs = Math.max(endsAtMs, world.nowMs() + seconds * 1_000)
      switches.set(key, { endsAtMs: mayEndAtMs, orderIds })
      ask({ kind: 'cancel_all_after', market, body, authenticated: owner }, (answer) => {
        if (answer.kind === 'lease') switches.get(key)?.orderIds.push(...before)
      })
    },
    lease({ owner }, market) {
      const key = `${owner} ${market}`
      const known = opened.get(key)
      const isEnded = known !== undefined && random.chance(0.5)
      leases += isEnded ? 0 : 1
      const id = isEnded ? known.id : leases.toString(16).padStart(32, '0')
      const seconds = random.pick(LEASES_SEC)
      const body = JSON.stringify({ lease_id: id, seconds })
      const kind = isEnded ? 'end_lease' : 'open_lease'
      ask({ kind, market, body, authenticated: owner }, (answer) => {
        take(answer, market)
        if (answer.kind !== 'lease' || isEnded) return
        opened.set(key, { id, endsAtMs: answer.ends_at_ms })
      })
    },
  }
  return {
    act() {
      const [trader, { market }] = [random.pick(traders), random.pick(markets)]
      const name = random.pick(Object.keys(acts))
      world.note(`${name} of ${trader.owner} in ${market}`)
      world.after(actor, 0, () => acts[name]?.(trader, market))
    },
    leaseOf: (owner, market) => opened.get(`${owner} ${market}`)?.id,
    dooms: () => [
      ...dooms,
      ...[...switches.values()].flatMap(({ endsAtMs: fromMs, orderIds }) =>
        orderIds.map((orderId) => ({ orderId, fromMs, why: 'its switch was not renewed' })),
      ),
      ...sent.flatMap(({ orderId, accepted, body, owner, market }) => {
        const lease = opened.get(`${owner} ${market}`)
        if (!accepted || body.lease_id === undefined || lease?.id !== body.lease_id) return []
        return [{ orderId, fromMs: lease.endsAtMs, why: 'its lease has ended' }]
      }),
    ],
  }
}
