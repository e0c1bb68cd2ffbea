import { balanceFacts, type BalanceFacts } from '../../core/contracts/balances.js'
import fc from 'fast-check'
import type { Command } from '../../core/model/command.js'
import type { AccountObservation } from '../../core/model/observation.js'
import { amountE18, E18, quoteE18 } from '../../core/money.js'
import { commandOf, marketActs, type MarketAct } from './market-commands.js'

/** Something is seen on the chain, or whatever else happens in a market; what settles does so in the block. */
export type FundedAct =
  | { readonly act: 'market'; readonly it: MarketAct; readonly block: number }
  | {
      readonly act: 'observe'
      readonly trader: number
      readonly base: number
      readonly quote: number
      readonly block: number
      readonly leaving: boolean
    }

const marketAct = (it: MarketAct): fc.Arbitrary<FundedAct> =>
  fc.record({
    act: fc.constant('market' as const),
    it: fc.constant(it),
    block: fc.integer({ min: 1, max: 20 }),
  })

const observe: fc.Arbitrary<FundedAct> = fc.record({
  act: fc.constant('observe' as const),
  trader: fc.integer({ min: 1, max: 5 }),
  base: fc.integer({ min: 0, max: 40 }),
  quote: fc.integer({ min: 0, max: 40 }),
  block: fc.integer({ min: 1, max: 20 }),
  leaving: fc.integer({ min: 0, max: 9 }).map((tenth) => tenth === 0),
})

/** Random market days in which accounts gain and lose funds on the chain, whose blocks also come in wrong order. */
export const fundedActs = (maxLength: number): fc.Arbitrary<FundedAct[]> =>
  marketActs(maxLength).chain((acts) =>
    fc.tuple(
      ...acts.map((it) =>
        fc.oneof({ weight: 4, arbitrary: marketAct(it) }, { weight: 1, arbitrary: observe }),
      ),
    ),
  )

/** An account in the custody of the tests' owner with as much of either asset, seen in block 1. */
export const anObservation = (
  subaccountId: bigint,
  balance: bigint,
  { quote = quoteE18(balance), ...fields }: Partial<AccountObservation & BalanceFacts> = {},
): AccountObservation => ({
  subaccountId,
  facts: balanceFacts({ base: amountE18(balance), quote }),
  custodyOwner: `0x${'a'.repeat(40)}`,
  leaving: false,
  blockNumber: 1n,
  blockTimeSec: 0,
  ...fields,
})

/** Turns acts into commands, as commandOf does. */
export function fundedCommandOf(act: FundedAct, context: Parameters<typeof commandOf>[1]): Command {
  if (act.act === 'observe') {
    const account = anObservation(BigInt(act.trader), BigInt(act.base) * E18, {
      quote: quoteE18(BigInt(act.quote) * E18),
      blockNumber: BigInt(act.block),
      leaving: act.leaving,
    })
    return { kind: 'AccountObserved', account }
  }
  const command = commandOf(act.it, context)
  if (command.kind !== 'SettlementReported' || command.outcome.kind !== 'success') return command
  return { ...command, outcome: { ...command.outcome, blockNumber: BigInt(act.block) } }
}

/** What the chain shows of a trader's account before an act, for some of them. */
export const observations = fc.array(
  fc.option(
    fc.record({
      subaccountId: fc.bigInt({ min: 1n, max: 5n }),
      facts: fc
        .tuple(fc.bigInt({ min: 0n, max: 40n }), fc.bigInt({ min: 0n, max: 40n }))
        .map(([base, quote]) =>
          balanceFacts({ base: amountE18(base * E18), quote: quoteE18(quote * E18) }),
        ),
      custodyOwner: fc.constant(`0x${'a'.repeat(40)}` as const),
      leaving: fc.integer({ min: 0, max: 9 }).map((tenth) => tenth === 0),
      blockNumber: fc.bigInt({ min: 1n, max: 20n }),
      blockTimeSec: fc.nat(),
    }),
    { freq: 3 },
  ),
  { maxLength: 80, size: 'max' },
)
