import fc from 'fast-check'
import { E18 } from '../../core/money.js'
import type { MarketArithmetic } from '../../web/select/market-terms.js'
import type { TicketBook, Ticket } from '../../web/select/ticket.js'

/** A ticket of the terminal, the book that it stands before, and how it fills once it is signed. */
export interface TicketCase {
  readonly ticket: Ticket
  readonly book: TicketBook
  /** Each fill: a share of what is left in permille, and how far its price is from the limit on the better side, in permille. */
  readonly fills: readonly (readonly [share: number, better: number])[]
}

/** Prices around those of the market, and sizes from one step on. */
export function ticketCase({
  tickE18,
  stepE18,
  isInverted,
}: MarketArithmetic): fc.Arbitrary<TicketCase> {
  const middle = tickE18 < 10n ** 14n ? 65n * 10n ** 13n : 1_550n * E18
  const ticks = middle / tickE18
  const price = fc.bigInt(ticks / 2n + 1n, ticks * 2n).map((count) => count * tickE18)
  const amount = fc.bigInt(1n, 10n ** 7n).map((steps) => steps * stepE18)
  const levels = (sign: bigint) =>
    fc
      .uniqueArray(fc.tuple(price, amount), { maxLength: 6, selector: ([at]) => at })
      .map((list) =>
        list
          .map(([at, resting]) => ({ priceE18: at, amountE18: resting }))
          .sort((a, b) => Number(sign * (a.priceE18 - b.priceE18))),
      )
  return fc.record({
    ticket: fc.record({
      side: fc.constantFrom('buy' as const, 'sell' as const),
      priceE18: fc.option(
        price.map((at) => (isInverted ? (E18 * E18) / at : at)),
        { nil: undefined, freq: 3 },
      ),
      sizeE18: fc.oneof(amount, fc.bigInt(1n, 10n ** 24n)),
      guardBps: fc.constantFrom(10n, 100n, 500n),
    }),
    book: fc.record({ bids: levels(-1n), asks: levels(1n) }),
    fills: fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { minLength: 1, maxLength: 8 }),
  })
}
