import { contractOf } from '../contracts/registry.js'
import { parseStored } from '../decimal.js'
import type { MarketIdentity, MarketRules } from '../model/market-terms.js'
import { amountE18, E18, priceE18, quoteE18 } from '../money.js'

/** Highest taker fee, in basis points: the whole notional. */
export const MAX_FEE_BPS = 10_000
/** Highest `open_order_limit`. */
export const MAX_OPEN_ORDER_LIMIT = 100_000

/** A market whose rules are to change. */
interface RuledMarket {
  readonly identity: MarketIdentity
  readonly rules: MarketRules
}

type RulesResult = { readonly rules: Partial<MarketRules> } | { readonly problem: string }

/**
 * Reads new rules by the names and texts of the market file; a problem is one line for the operator. A step must be a
 * whole number of the chain's units, so that every amount on it can be signed.
 */
export function readRules(
  market: RuledMarket,
  fields: Readonly<Record<string, string>>,
): RulesResult {
  const names = Object.keys(fields)
  if (names.length === 0) return { problem: `name at least one of ${RULE_NAMES.join(', ')}` }
  const rules: { -readonly [Key in keyof MarketRules]?: MarketRules[Key] } = {}
  for (const [name, text] of Object.entries(fields)) {
    const reader = READERS[name]
    if (reader === undefined) {
      return { problem: `${name} cannot be set; only ${RULE_NAMES.join(', ')} can` }
    }
    const problem = reader(rules, text, market)
    if (problem !== undefined) return { problem: `${name} ${problem}` }
  }
  // Other rules of a market whose log has such steps can still be set.
  const isOfGrid = rules.minSize !== undefined || rules.amountStep !== undefined
  const problem = isOfGrid ? gridProblem({ ...market.rules, ...rules }) : undefined
  return problem === undefined ? { rules } : { problem: `amount_step ${problem}` }
}

type ChangedRules = { -readonly [Key in keyof MarketRules]?: MarketRules[Key] }
/** Sets the rule, or returns what is wrong with its text. */
type Reader = (rules: ChangedRules, text: string, market: RuledMarket) => string | undefined

const READERS: Readonly<Record<string, Reader>> = {
  taker_fee_bps(rules, text) {
    const bps = /^[0-9]{1,5}$/.test(text) ? Number(text) : Infinity
    if (bps > MAX_FEE_BPS) return `must be a whole number from 0 to ${MAX_FEE_BPS}`
    rules.takerFeeBps = bps
    return undefined
  },
  tick_size(rules, text) {
    const tick = positive(text)
    if (tick === undefined) return NOT_POSITIVE
    rules.tickSize = priceE18(tick)
    return undefined
  },
  min_size(rules, text, { identity }) {
    const size = positive(text)
    if (size === undefined) return NOT_POSITIVE
    const problem = stepProblem(size, identity)
    if (problem === undefined) rules.minSize = amountE18(size)
    return problem
  },
  amount_step(rules, text, { identity, rules: { amountStep } }) {
    if (amountStep === undefined) return 'is not a rule of this market'
    const step = positive(text)
    if (step === undefined) return NOT_POSITIVE
    const problem = stepProblem(step, identity)
    if (problem === undefined) rules.amountStep = amountE18(step)
    return problem
  },
  min_notional(rules, text) {
    const notional = parseStored(text, 18)
    if (notional === undefined) return 'must be a decimal of at most 18 decimals, 0 for none'
    rules.minNotional = quoteE18(notional)
    return undefined
  },
  open_order_limit(rules, text) {
    const limit = /^[0-9]{1,6}$/.test(text) ? Number(text) : Infinity
    if (limit > MAX_OPEN_ORDER_LIMIT) {
      return `must be a whole number from 0 to ${MAX_OPEN_ORDER_LIMIT}, 0 for none`
    }
    rules.openOrderLimit = limit
    return undefined
  },
}

const RULE_NAMES = Object.keys(READERS)

const NOT_POSITIVE = 'must be a decimal greater than 0 with at most 18 decimals'

function positive(text: string): bigint | undefined {
  const value = parseStored(text, 18)
  return value === undefined || value === 0n ? undefined : value
}

/** What is wrong with the two steps that a market shows: `min_size` is both the least amount and the grid of amounts. */
export const gridProblem = ({
  minSize,
  amountStep = minSize,
}: Pick<MarketRules, 'minSize' | 'amountStep'>): string | undefined =>
  amountStep === minSize ? undefined : 'must equal min_size, the grid of amounts: set both'

/** What is wrong with a step of amounts; undefined when the chain takes every amount on it. */
export function stepProblem(
  step: bigint,
  market: Pick<MarketIdentity, 'contractType' | 'amountScale'>,
): string | undefined {
  const { amountScale } = market
  const { signedStep = 1n } = contractOf(market)
  if ((step * amountScale) % (E18 * signedStep) === 0n) return undefined
  return `must be a whole number of the chain's units, of which 1 has ${amountScale / signedStep}`
}
