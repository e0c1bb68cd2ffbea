import { privateKeyToAddress } from 'viem/accounts'
import type { UpkeepCall } from '../../chain/contracts/chain-contract.js'
import { createCensus } from '../../chain/contracts/holders.js'
import { blockCalls } from '../../chain/contracts/observe-account.js'
import { future } from '../../chain/contracts/future.js'
import { simulateCall } from '../../chain/contracts/simulate.js'
import { readHead } from '../../chain/reads/blocks.js'
import { createChainClient } from '../../chain/reads/client.js'
import type { Address, Hex } from '../../core/action.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import type { Market } from '../../core/model/market.js'
import type { Duty } from '../../core/contracts/upkeep.js'
import { divHalfUp, exactNumber } from '../../core/decimal.js'
import { E18 } from '../../core/money.js'
import { signSpotPrice } from '../../devnet/chain/sign-prices.js'
import { createBatch } from '../../devnet/chain/transaction-batch.js'
import { lower } from './devnet-world.js'

const INDEX_GAS = 400_000n
const UPKEEP_GAS = 4_000_000n

/** The addresses of the futures, by their names in the deployment file. */
export type FuturesContracts = Readonly<
  Record<
    'matching' | 'sub_accounts' | 'futures_index_feed' | 'future_asset' | 'futures_manager',
    Address
  >
>

/** What the feeder and the keeper do for the futures, step by step in a test. */
export interface FuturesUpkeep {
  /** What is due at the newest block. */
  duties(): Promise<readonly Duty<UpkeepCall>[]>
  /**
   * Publishes the index, in cNGN per USDC the inverse of the given price, and does once what is due then; what would revert is
   * left out. A series that was settled before is closed out and retired.
   */
  keep(usdcPerCngn: bigint): Promise<void>
}

export function createFuturesUpkeep(options: {
  readonly rpcUrl: string
  readonly at: FuturesContracts
  readonly feederKey: Hex
  /** Moves the marks; the feeder's by default. */
  readonly keeperKey?: Hex
  /** By which series are opened where the keeper may; none by default. */
  readonly calendar?: FuturesCalendar
  readonly markets?: () => readonly Market[]
}): FuturesUpkeep {
  const { rpcUrl, at, feederKey, keeperKey = feederKey, calendar = 'none' } = options
  const client = createChainClient(rpcUrl, 'read')
  const deployment = { matching: at.matching, subAccounts: at.sub_accounts }
  const market = { assetAddress: at.future_asset, marginManagerAddress: at.futures_manager }

  async function duties(): Promise<readonly Duty<UpkeepCall>[]> {
    const head = await readHead(client)
    const deps = { client, deployment }
    const { holders } = await createCensus(deps).at(head, {
      assets: new Set([at.future_asset]),
      managers: new Set([at.futures_manager]),
    })
    const atSec = exactNumber(head.timestamp)
    const block = {
      ...blockCalls(deps, head),
      atSec,
      holders,
      rescuers: [],
      mostUsd: 0n,
      calendar,
      keeper: lower(privateKeyToAddress(keeperKey)),
      markets: options.markets?.() ?? [],
    }
    return (await future.readDuties?.(market as Market, block)) ?? []
  }

  async function perform(due: readonly Duty<UpkeepCall>[]): Promise<void> {
    const batch = await createBatch({ rpcUrl, privateKey: keeperKey })
    for (const { job, task } of due) {
      const simulated = await simulateCall(client, { from: batch.sender, ...task }, job)
      if (simulated.kind === 'passes') await batch.send({ ...task, gas: UPKEEP_GAS })
    }
    await batch.flush()
  }

  return {
    duties,
    async keep(usdcPerCngn) {
      const batch = await createBatch({ rpcUrl, privateKey: feederKey })
      const timestampSec = await batch.newestBlockTimeSec()
      const update = { chainId: batch.chainId, signerKey: feederKey, timestampSec }
      const price = { price: divHalfUp(E18 * E18, usdcPerCngn), confidence: E18 }
      const call = await signSpotPrice(update, at.futures_index_feed, price)
      await batch.send({ ...call, gas: INDEX_GAS })
      await batch.flush()
      let due = await duties()
      const closing = new Set(due.filter(isClosing).map(({ subject }) => subject))
      while (due.length > 0) {
        await perform(due)
        due = (await duties()).filter((duty) => isClosing(duty) && closing.has(duty.subject))
      }
    },
  }
}

const isClosing = ({ job }: Duty): boolean => job === 'close_out' || job === 'retirement'
