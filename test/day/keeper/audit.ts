import { expect } from 'chai'
import { parseAbi } from 'viem'
import { cashAssetAbi, subAccountsAbi } from '../../../chain/abi/contracts.js'
import type { Address } from '../../../core/action.js'
import { balanceOf, lastAccountId, lower } from '../../support/devnet-world.js'
import { ask } from '../../support/futures-world.js'
import { unsettledOf } from '../../support/perp-world.js'
import type { SeriesVenue } from '../../support/series-venue.js'
import { positionsOf, socialisedLosses } from './model.js'
import { CALENDAR, DEALER_KEY, SERIES, type KeptWorld } from './world.js'

const tokenAbi = parseAbi(['function balanceOf(address account) view returns (uint256)'])
/** Rounding of claims and shared losses, and of settlements of the perpetual. */
const DUST = 1_000n
const CASH_DUST = 1_000_000n
/** Units of a token, of 1e18. */
const UNIT = 10n ** 12n

const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n)

/** Every account of the chain, whosever it is. */
async function everyAccount(world: KeptWorld): Promise<readonly bigint[]> {
  const count = Number(await lastAccountId(world))
  return Array.from({ length: count }, (_, i) => BigInt(i + 1))
}

const managerOf = ({ client, at }: KeptWorld, id: bigint): Promise<string> =>
  client.readContract({
    address: at.sub_accounts,
    abi: subAccountsAbi,
    functionName: 'manager',
    args: [id],
  })

/** Positions add up to zero, and the pool of the futures covers what all ledgers say. */
export async function auditContracts(world: KeptWorld): Promise<void> {
  const { at } = world
  const ids = await everyAccount(world)
  const perps = await Promise.all(ids.map((id) => balanceOf(world, id, at.perp_asset)))
  expect(sum(perps)).to.equal(0n)
  const positions = await Promise.all(ids.map((id) => positionsOf(world, id)))
  for (const i of CALENDAR.keys()) expect(sum(positions.map((of) => of[i] ?? 0n))).to.equal(0n)
  const managers = await Promise.all(ids.map((id) => managerOf(world, id)))
  const ofFutures = ids.filter((_, i) => managers[i]?.toLowerCase() === lower(at.futures_manager))
  const ledgers = await Promise.all(
    ofFutures.map((id) => ask<bigint>(world, 'manager', 'variation', id)),
  )
  const pool = await ask<bigint>(world, 'manager', 'pool')
  const off = pool - sum(ledgers)
  expect(off >= 0n && off < DUST, `the pool is off by ${off}`).to.equal(true)
  const poolAccount = await ask<bigint>(world, 'manager', 'poolAccount')
  expect((await balanceOf(world, poolAccount, at.wrapped_cngn)) >= pool).to.equal(true)
}

/**
 * What all accounts have of each token is what its contract holds of it. Of cash it is what settlements have created, too, and what
 * of losses all bear; what is not settled of the perpetual makes up for the settlements.
 */
export async function auditMoney(world: KeptWorld): Promise<void> {
  const { at, client } = world
  const ids = await everyAccount(world)
  const owned = async (asset: Address) =>
    sum(await Promise.all(ids.map((id) => balanceOf(world, id, asset))))
  const held = async (token: Address, asset: Address) =>
    UNIT *
    (await client.readContract({
      address: token,
      abi: tokenAbi,
      functionName: 'balanceOf',
      args: [asset],
    }))
  expect(await owned(at.wrapped_usdc)).to.equal(await held(at.usdc, at.wrapped_usdc))
  expect(await owned(at.wrapped_cngn)).to.equal(await held(at.cngn, at.wrapped_cngn))
  const settled = await client.readContract({
    address: at.cash_asset,
    abi: cashAssetAbi,
    functionName: 'netSettledCash',
  })
  const backing = await held(at.usdc, at.cash_asset)
  expect(await owned(at.cash_asset)).to.equal(backing + settled + (await socialisedLosses(world)))
  const unsettled = await Promise.all(
    ids.map((subaccountId) => unsettledOf(world, { subaccountId })),
  )
  const off = settled + sum(unsettled)
  expect(off < CASH_DUST && off > -CASH_DUST, `settled cash is off by ${off}`).to.equal(true)
}

/** What the venue has of the dealer, fills less what settled series closed, is what the chain has. */
export async function auditTrades(world: KeptWorld, venue: SeriesVenue): Promise<void> {
  const [fills, closed] = await Promise.all([venue.fills(DEALER_KEY), venue.closeOuts(DEALER_KEY)])
  const held = await positionsOf(world, world.dealers.future.subaccountId)
  // In whole USDC, a thousand a contract.
  const bought = (market: string) =>
    fills
      .filter((fill) => fill.market === market && fill.side === 'buy')
      .reduce((total, { size }) => total + Number(size), 0)
  const ended = (market: string) =>
    closed
      .filter((row) => row.market === market)
      .reduce((total, { position }) => total + Number(position), 0)
  for (const [i, market] of SERIES.entries()) {
    expect(bought(market), market).to.be.above(0)
    expect(BigInt(bought(market) - ended(market)) * 10n ** 15n, market).to.equal(held[i])
  }
  expect(ended(SERIES[0])).to.equal(bought(SERIES[0]))
}
