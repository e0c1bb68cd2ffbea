import {
  decodeMarketAnswer,
  encodeMarketRequest,
  type MarketChange,
} from '../../bus-schemas/markets.js'
import { askMarket } from '../../bus-schemas/subjects.js'
import type { MemoryBus } from '../../runtime/bus/memory-bus.js'
import { connectLine, type BusLine } from './bus-line.js'
import type { Network } from './network.js'
import type { MarketPlan } from './markets.js'
import type { Actor } from './world.js'

/** An operator who changes markets, as `./venue market` does. */
export interface Operator {
  /** Asks for some change; most are carried out, some are refused, some get lost. */
  act(): void
  readonly line: BusLine
}

const PATIENCE_MS = 5_000
/** Fees below, at and above what the traders' orders are signed for, and limits that some orders do not meet. */
const RULES: readonly Readonly<Record<string, string>>[] = [
  ...['0', '25', '30', '31'].map((taker_fee_bps) => ({ taker_fee_bps })),
  ...['0', '2', '5'].map((open_order_limit) => ({ open_order_limit })),
  ...['0', '3'].map((min_notional) => ({ min_notional })),
]
const CHANGES: readonly (() => MarketChange)[] = [
  () => ({ kind: 'pause' }),
  () => ({ kind: 'resume' }),
  () => ({ kind: 'resume' }),
  () => ({ kind: 'disable' }),
  () => ({ kind: 'enable' }),
  () => ({ kind: 'enable' }),
]

export interface OperatorOptions {
  readonly network: Network
  readonly server: MemoryBus
  readonly plan: MarketPlan
  readonly onFinding: (what: string, error: unknown) => void
}

export function createOperator({ network, server, plan, onFinding }: OperatorOptions): Operator {
  const { world, random } = network
  const actor: Actor = {
    name: 'operator',
    alive: true,
    skewMs: 0,
    onFailure: (error) => onFinding('operator failed', error),
  }
  const line = connectLine(network, server, actor)

  const ask = (market: string, change: MarketChange, onSilence: () => void): void => {
    const request = { request_id: 'r', by: 'operator', reason: 'maintenance', change }
    const subject = askMarket(market)
    line.bus.ask(subject, encodeMarketRequest(request), PATIENCE_MS).then((data) => {
      const answer = decodeMarketAnswer(data)
      const said = answer.kind === 'terms' ? answer.terms.standing.status : answer.message
      world.note(`operator ${change.kind} ${market}: ${said}`)
    }, onSilence)
  }
  return {
    line,
    act() {
      const { market } = random.pick(plan.markets)
      const setRule = { kind: 'set', fields: random.pick(RULES) } as const
      const change = random.chance(0.3) ? setRule : random.pick(CHANGES)()
      const silence = (): void => world.note(`operator ${change.kind} ${market}: silence`)
      world.after(actor, 0, () => ask(market, change, silence))
    },
  }
}
