import { INT256_MAX, LEASE_MAX_SEC } from '../limits.js'
import type { MarketRules } from '../model/market-terms.js'
import type { Command } from '../model/command.js'
import type { Order } from '../model/order.js'
import type { MatcherState } from './state.js'

/**
 * What the step derives of a command, asked before anything is changed: amounts that add up, products that can be stored,
 * deadlines, rules that can be divided by, a lease of its owner. The intake and the operator's reader ask for more; this is
 * what the step itself depends on. Pure.
 */

/** Why the step cannot derive what it needs of a command, in a few words; undefined when it can. */
export function whyUnderivable(
  command: Command,
  state?: Pick<MatcherState, 'leases'>,
): string | undefined {
  switch (command.kind) {
    case 'PlaceOrder':
      return whyNotPlaced(command.order)
    case 'MarketRulesSet':
      return whyNotRules(command.rules)
    case 'SetLease': {
      if (command.seconds > LEASE_MAX_SEC) return 'the lease lasts too long'
      const { leaseId, owner } = command
      const known = leaseId === undefined ? undefined : state?.leases.byKey.get(leaseId)
      return known === undefined || known.owner === owner
        ? undefined
        : 'the lease is of another owner'
    }
    default:
      return undefined
  }
}

function whyNotPlaced(order: Order): string | undefined {
  const { desiredAmount, initialFilled, limitPrice, goodUntilSec } = order
  if (desiredAmount <= 0n || initialFilled < 0n || initialFilled > desiredAmount)
    return 'the amounts do not add up'
  if (limitPrice <= 0n || limitPrice * desiredAmount > INT256_MAX)
    return 'the price times the amount cannot be stored'
  return Number.isSafeInteger(goodUntilSec) && goodUntilSec >= 0
    ? undefined
    : 'the end is not an exact time'
}

function whyNotRules({ tickSize, minSize, amountStep }: Partial<MarketRules>): string | undefined {
  return [tickSize, minSize, amountStep].some((step) => step !== undefined && step <= 0n)
    ? 'a step is not more than 0'
    : undefined
}
