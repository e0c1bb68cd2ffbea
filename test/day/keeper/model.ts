import { expect } from 'chai'
import { parseAbi, parseEventLogs, type AbiEvent } from 'viem'
import {
  dutchAuctionAbi,
  futureAssetAbi,
  futuresManagerAbi,
  managerAbi,
  perpAssetAbi,
} from '../../../chain/abi/contracts.js'
import { balanceOf } from '../../support/devnet-world.js'
import { ask, positionOf } from '../../support/futures-world.js'
import { readPerp } from '../../support/perp-world.js'
import { CALENDAR, type KeptWorld } from './world.js'

const securityAbi = parseAbi([
  'event SecurityModulePaidOut(uint256 accountId, uint256 cashAmountNeeded, uint256 cashAmountPaid)',
])
/** What an account below maintenance margin may wait, in blocks. */
const WITHIN_BLOCKS = 3
const HOUR_SEC = 3_600n

/** Looks at each block for accounts below maintenance margin that nothing is done about. */
export function createWatch(world: KeptWorld) {
  const since = new Map<string, bigint>()
  const { client, at } = world
  const marginOf = (manager: typeof at.perp_manager, id: bigint) =>
    client.readContract({
      address: manager,
      abi: managerAbi,
      functionName: 'getMargin',
      args: [id, false],
    })
  const isLive = (id: bigint) =>
    client.readContract({
      address: at.dutch_auction,
      abi: dutchAuctionAbi,
      functionName: 'isAuctionLive',
      args: [id],
    })

  async function perpIsLeft(id: bigint): Promise<boolean> {
    if ((await marginOf(at.perp_manager, id)) >= 0n) return false
    return !(await isLive(id))
  }
  async function futureIsLeft(id: bigint): Promise<boolean> {
    if (id === world.rescuer || (await marginOf(at.futures_manager, id)) >= 0n) return false
    return (await positionsOf(world, id)).some((contracts) => contracts !== 0n)
  }

  return {
    /** How many accounts have been below maintenance margin. */
    failed: new Set<string>(),
    async look(blockNumber: bigint): Promise<void> {
      const asked = [
        ...world.perpAccounts.map((id) => [`perp ${id}`, () => perpIsLeft(id)] as const),
        ...world.futureAccounts.map((id) => [`future ${id}`, () => futureIsLeft(id)] as const),
      ]
      const left = await Promise.all(asked.map(async ([name, isLeft]) => [name, await isLeft()]))
      for (const [name, isLeft] of left as [string, boolean][]) {
        if (!isLeft) {
          since.delete(name)
          continue
        }
        this.failed.add(name)
        const first = since.get(name) ?? blockNumber
        since.set(name, first)
        const waited = blockNumber - first
        expect(waited <= WITHIN_BLOCKS, `${name} is left for ${waited} blocks`).to.equal(true)
      }
    },
  }
}

/** Contracts of all series, at 1e18. */
export const positionsOf = (world: KeptWorld, id: bigint): Promise<readonly bigint[]> =>
  Promise.all(CALENDAR.map((expiry) => positionOf(world, id, BigInt(expiry))))

/** Funding as it would be if it accrued each minute at the rate of that minute. */
export async function createFundingModel(world: KeptWorld) {
  const startedAt = await readPerp(world, 'aggregatedFunding')
  let atSec = await readPerp(world, 'lastFundingPaidAt')
  let owed = 0n
  /** Per second, in cash for a contract at 1e36. */
  let rate = await currentRate()
  let highest = abs(rate)

  async function currentRate(): Promise<bigint> {
    const { client, at } = world
    const index = await client.readContract({
      address: at.perp_asset,
      abi: perpAssetAbi,
      functionName: 'getIndexPrice',
    })
    return ((await readPerp(world, 'getFundingRate')) * index[0]) / HOUR_SEC
  }

  return {
    /** Prices have changed at this time. */
    async changed(nowSec: bigint): Promise<void> {
      owed += rate * (nowSec - atSec)
      atSec = nowSec
      rate = await currentRate()
      highest = abs(rate) > highest ? abs(rate) : highest
    },
    /** Compares what has accrued with the model, to within what accrues in a minute. */
    async check(): Promise<{ readonly paid: bigint; readonly modelled: bigint }> {
      const paidSec = await readPerp(world, 'lastFundingPaidAt')
      const paid = (await readPerp(world, 'aggregatedFunding')) - startedAt
      const modelled = (owed + rate * (paidSec - atSec)) / 10n ** 18n
      const minute = (highest * 60n) / 10n ** 18n
      const off = abs(paid - modelled)
      expect(off <= minute, `funding ${paid}, by the model ${modelled}, off ${off}`).to.equal(true)
      return { paid, modelled }
    },
  }
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value)

/** What the insurance of both kinds has, and must have by what the contracts say they took and gave. */
export async function createInsuranceModel(world: KeptWorld) {
  const fromBlock = await world.client.getBlockNumber()
  const read = async () => {
    const { at, insurer } = world
    const [security, usdc, cngn, ledger] = await Promise.all([
      balanceOf(world, BigInt(at.security_subaccount_id), at.cash_asset),
      balanceOf(world, insurer, at.wrapped_usdc),
      balanceOf(world, insurer, at.wrapped_cngn),
      ask<bigint>(world, 'manager', 'variation', insurer),
    ])
    return { security, usdc, cngn: cngn + ledger }
  }
  const before = await read()
  const sum = (values: readonly bigint[]): bigint => values.reduce((a, b) => a + b, 0n)

  return {
    async check(): Promise<Awaited<ReturnType<typeof read>>> {
      const abi = [...dutchAuctionAbi, ...securityAbi, ...futuresManagerAbi] as const
      const { at, insurer, client } = world
      const address = [at.dutch_auction, at.security_module, at.futures_manager]
      const logs = await client.getLogs({
        address,
        fromBlock: fromBlock + 1n,
        events: abi.filter(({ type }) => type === 'event') as AbiEvent[],
      })
      const fees = parseEventLogs({ abi, eventName: 'SolventAuctionStarted', logs })
      const payouts = parseEventLogs({ abi, eventName: 'SecurityModulePaidOut', logs })
      const losses = parseEventLogs({ abi, eventName: 'LossShared', logs })
      const cures = parseEventLogs({ abi, eventName: 'DebtCured', logs }).filter(
        ({ args }) => args.by === insurer,
      )
      const after = await read()
      expect(after).to.deep.equal({
        security:
          before.security +
          sum(fees.map(({ args }) => args.fee)) -
          sum(payouts.map(({ args }) => args.cashAmountPaid)),
        usdc: before.usdc + sum(cures.map(({ args }) => args.usdc)),
        cngn:
          before.cngn -
          sum(losses.map(({ args }) => args.fromInsurance)) -
          sum(cures.map(({ args }) => args.cngn)),
      })
      return {
        security: after.security - before.security,
        usdc: after.usdc - before.usdc,
        cngn: after.cngn - before.cngn,
      }
    },
  }
}

/** Cash that bidders got for losses beyond what the security module had, since the chain began. */
export async function socialisedLosses({ client, at }: KeptWorld): Promise<bigint> {
  const [event] = securityAbi
  const logs = await client.getLogs({ address: at.security_module, event, fromBlock: 0n })
  return logs.reduce((sum, { args }) => {
    const { cashAmountNeeded = 0n, cashAmountPaid = 0n } = args
    return sum + cashAmountNeeded - cashAmountPaid
  }, 0n)
}

/** The series that are not retired. */
export const openSeriesOf = async ({ client, at }: KeptWorld): Promise<readonly number[]> =>
  (
    await client.readContract({
      address: at.future_asset,
      abi: futureAssetAbi,
      functionName: 'openSeries',
    })
  ).map(Number)
