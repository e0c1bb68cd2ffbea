import { Precise, type Trade } from 'ccxt'
import { expect } from 'chai'
import { createPublicClient, http } from 'viem'
import { futuresManagerAbi } from '../../../../chain/abi/contracts.js'
import type { VenuePro } from '../../../../ccxt/index.js'
import { formatDecimal } from '../../../../core/decimal.js'
import { eventually } from '../../../support/eventually.js'
import { createPerpTrader } from '../perp-trader.js'
import { e18 } from '../trader.js'
import { deal, proceedsOf, sumOf, type CcxtWorld, type Desk } from './world.js'

interface Token {
  readonly token: string
  readonly total: string
}

interface Account {
  readonly block_number: number
  readonly tokens: readonly Token[]
}

/** What the account of a type holds of both tokens, as exact text. */
async function holdings(exchange: VenuePro, type: string): Promise<Record<string, string>> {
  const { info } = await exchange.fetchBalance({ type })
  const { tokens } = info as Account
  return Object.fromEntries(tokens.map(({ token, total }) => [token, total]))
}

/** Of a token, what is more of it now. */
const gain = (before: Record<string, string>, after: Record<string, string>, token: string) =>
  Precise.stringSub(after[token] ?? '0', before[token] ?? '0')

const feesOf = (trades: readonly Trade[]): string =>
  sumOf(trades.map(({ info }) => (info as { readonly fee: string }).fee))

const sizesOf = (trades: readonly Trade[]): string =>
  sumOf(
    trades.map(({ side, info }) => {
      const { size } = info as { readonly size: string }
      return side === 'buy' ? size : Precise.stringNeg(size)
    }),
  )

/** Runs the deals and resolves with the taker's trades of them, once its balance includes them all. */
async function tradesOf(
  { taker }: CcxtWorld,
  { symbol }: Desk,
  run: () => Promise<unknown>,
): Promise<Trade[]> {
  const before = new Set((await taker.fetchMyTrades(symbol)).map(({ id }) => id))
  await run()
  return (await taker.fetchMyTrades(symbol)).filter(({ id }) => !before.has(id))
}

/** A balance is of one block of the chain; it is read until it is as the trades say, or stays otherwise. */
async function expectGain(read: () => Promise<string | undefined>, wanted: string): Promise<void> {
  let last: string | undefined
  await eventually(async () => {
    last = await read()
    return last !== undefined && Precise.stringEquals(last, wanted)
  }, 30_000).catch(() => undefined)
  expect(last).to.equal(wanted)
}

/** A position of the taker that opens at one price and closes at another. */
const roundTrip = async (world: CcxtWorld, desk: Desk) => {
  await deal(world, desk)
  await deal(world, { ...desk, price: desk.high }, 'sell')
}

export function moneyOfTheClass(get: () => CcxtWorld): void {
  it('sums of spot trades less fees are the change of both balances, to the unit', async () => {
    const world = get()
    const [spot] = world.desks
    const before = await holdings(world.taker, 'spot')
    const trades = await tradesOf(world, spot, async () => {
      await deal(world, spot)
      await deal(world, { ...spot, amount: 12_345.5, price: 0.00071234567890123 }, 'sell')
    })
    expect(trades).to.have.length(2)
    const paid = Precise.stringSub(sumOf(trades.map(proceedsOf)), feesOf(trades)) ?? ''
    const gained = (token: string) => async () =>
      gain(before, await holdings(world.taker, 'spot'), token)
    // Of such sizes and prices that no product has more than the chain's 18 decimals.
    await expectGain(gained('cNGN'), sizesOf(trades))
    await expectGain(gained('USDC'), paid)
  })

  it('a perpetual that closes pays its settled gain, less fees, with the funding', async () => {
    const world = get()
    const [, perpetual] = world.desks
    const before = await holdings(world.taker, 'swap')
    const account = createPerpTrader(world.venue.devnet, 1)
    const fundingBefore = await account.funding()
    const trades = await tradesOf(world, perpetual, () => roundTrip(world, perpetual))
    expect(trades).to.have.length(2)
    expect(await world.taker.fetchPositions([perpetual.symbol])).to.deep.equal([])
    const moved = Precise.stringSub(sumOf(trades.map(proceedsOf)), feesOf(trades)) ?? ''
    const wanted = async () => e18(moved) + (await account.funding()) - fundingBefore
    await eventually(async () => {
      const gained = gain(before, await holdings(world.taker, 'swap'), 'USDC') ?? ''
      const rest = signedE18(gained) - (await wanted())
      // The chain rounds each of the two settlements down.
      return rest >= -2n && rest <= 2n
    }, 30_000)
  })

  it('a future that closes pays its variation in cNGN, and its fees in USDC, to the unit', async () => {
    const world = get()
    const [, , future] = world.desks
    const before = await holdings(world.taker, 'future')
    const ledger = await ledgerOf(world)
    const trades = await tradesOf(world, future, () => roundTrip(world, future))
    expect(trades).to.have.length(2)
    const gained = (token: string) => async () =>
      gain(before, await holdings(world.taker, 'future'), token)
    // What the manager owes or is owed is paid later, in another transaction.
    const withLedger = async () => {
      const moved = formatDecimal((await ledgerOf(world)) - ledger, 18)
      return Precise.stringAdd(await gained('cNGN')(), moved)
    }
    await expectGain(withLedger, sumOf(trades.map(proceedsOf)))
    await expectGain(gained('USDC'), Precise.stringNeg(feesOf(trades)) ?? '')
  })

  it('a position has side, size and prices while it is open', async () => {
    const world = get()
    const [, ...contracts] = world.desks
    for (const desk of contracts) {
      const { symbol, amount, price } = desk
      await deal(world, desk)
      const [position] = await world.taker.fetchPositions([symbol])
      expect(position).to.deep.include({ symbol, side: 'long', contracts: amount, contractSize: 1 })
      expect(position?.notional).to.be.closeTo(amount * (position?.markPrice ?? 0), 1e-6)
      expect(position?.initialMargin).to.be.above(0)
      if (desk.type === 'swap') expect(position?.entryPrice).to.be.closeTo(price, price / 10)
      expect(await world.maker.fetchPosition(symbol)).to.include({ side: 'short' })
      await deal(world, desk, 'sell')
    }
  })
}

/** Variation margin of the taker's account that is not paid yet, at 18 decimals. */
async function ledgerOf({ taker, venue, desks }: CcxtWorld): Promise<bigint> {
  const { futures_manager: address, rpc_url } = venue.devnet
  const subaccount = await taker.subaccountOf(taker.market(desks[2].symbol), {})
  return createPublicClient({ transport: http(rpc_url) }).readContract({
    address,
    abi: futuresManagerAbi,
    functionName: 'variation',
    args: [BigInt(subaccount)],
  })
}

/** Decimal text with a sign at 1e18. */
const signedE18 = (text: string): bigint => (text.startsWith('-') ? -e18(text.slice(1)) : e18(text))
