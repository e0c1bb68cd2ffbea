import type { Address, Hex } from '../../core/action.js'
import { expiriesFrom, type FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { exactNumber } from '../../core/decimal.js'
import type { ContractBatch } from './deploy-perp.js'
import { FUTURES_PARAMETERS, ONE, START_INDEX } from './futures-parameters.js'
import { signSpotPrice } from './sign-prices.js'
import type { TransactionBatch } from './transaction-batch.js'

/** Types of a manager's assets. */
const BASE = 3
const FUTURE = 4
/** Cap of each wrapped asset per manager, 1e18: far above what the devnet mints. */
const TOKEN_CAP = 10n ** 36n
const INDEX_GAS = 400_000n

/** The contracts that spot and futures share. */
type FuturesBase = Readonly<
  Record<'matching' | 'sub_accounts' | 'wrapped_usdc' | 'wrapped_cngn', Address>
>

export type FuturesAddresses = Readonly<
  Record<
    | 'futures_index_feed'
    | 'future_asset'
    | 'futures_manager'
    | 'future_trade_module'
    | 'future_liquidation_module',
    Address
  >
>

export async function createFuturesContracts(
  { create }: ContractBatch,
  at: FuturesBase,
): Promise<FuturesAddresses> {
  const { matching, sub_accounts: accounts, wrapped_usdc: usdc, wrapped_cngn: cngn } = at
  const asset = await create('FutureAsset', accounts)
  const manager = await create('FuturesManager', accounts, asset, usdc, cngn)
  return {
    futures_index_feed: await create('SpotFeed'),
    future_asset: asset,
    futures_manager: manager,
    future_trade_module: await create(
      'FutureTradeModule',
      matching,
      accounts,
      usdc,
      asset,
      manager,
    ),
    future_liquidation_module: await create(
      'FutureLiquidationModule',
      matching,
      accounts,
      asset,
      manager,
    ),
  }
}

/** Who may do what on the deployed contracts. */
export interface FuturesRoles {
  /** Signs the index. */
  readonly signer: Address
  /** Moves the marks. */
  readonly keeper: Address
  /** Opens series. */
  readonly seriesCreator: Address
  readonly guardian: Address
}

/** Everything but the series, whose first mark needs an index, and the accounts that receive fees and pay for losses. */
export async function wireFutures(
  { call }: ContractBatch,
  at: FuturesBase & FuturesAddresses,
  roles: FuturesRoles,
): Promise<void> {
  const { futures_index_feed: feed, future_asset: asset, futures_manager: manager } = at
  const { heartbeatSec, positionCap, maxAccountSize, marketId } = FUTURES_PARAMETERS
  await call('SpotFeed', feed, 'addSigner', roles.signer, true)
  await call('SpotFeed', feed, 'setHeartbeat', heartbeatSec)
  await call('FutureAsset', asset, 'setIndexFeed', feed)
  await call('FutureAsset', asset, 'setMarkKeeper', roles.keeper)
  await call('FutureAsset', asset, 'setSeriesCreator', roles.seriesCreator)
  await call('FutureAsset', asset, 'setTotalPositionCap', manager, positionCap)
  await call('FutureAsset', asset, 'setWhitelistManager', manager, true)
  for (const token of [at.wrapped_usdc, at.wrapped_cngn]) {
    await call('WrappedERC20Asset', token, 'setWhitelistManager', manager, true)
    await call('WrappedERC20Asset', token, 'setTotalPositionCap', manager, TOKEN_CAP)
  }
  const ask = (functionName: string, ...args: readonly unknown[]) =>
    call('FuturesManager', manager, functionName, ...args)
  await ask('createMarket', 'USDC-cNGN')
  for (const token of [at.wrapped_usdc, at.wrapped_cngn])
    await ask('whitelistAsset', token, marketId, BASE)
  await ask('whitelistAsset', asset, marketId, FUTURE)
  await ask('setMaxAccountSize', maxAccountSize)
  await ask('setGuardian', roles.guardian)
  await ask('setTradeModule', at.future_trade_module, true)
  for (const module of [at.future_trade_module, at.future_liquidation_module])
    await call('Matching', at.matching, 'setAllowedModule', module, true)
}

export interface FirstSeries {
  /** Signs the index. */
  readonly signerKey: Hex
  /** Unix seconds of the newest block. */
  readonly timeSec: bigint
  readonly calendar: FuturesCalendar
}

/** Gives the index its first price and opens the series that the calendar names from this moment on. */
export async function openSeries(
  batch: TransactionBatch,
  { call }: ContractBatch,
  at: FuturesAddresses,
  { signerKey, timeSec, calendar }: FirstSeries,
): Promise<void> {
  const update = { chainId: batch.chainId, signerKey, timestampSec: timeSec }
  const price = { price: START_INDEX, confidence: ONE }
  const index = await signSpotPrice(update, at.futures_index_feed, price)
  await batch.send({ ...index, gas: INDEX_GAS })
  for (const expirySec of expiriesFrom(calendar, exactNumber(timeSec)))
    await call('FutureAsset', at.future_asset, 'createSeries', BigInt(expirySec))
}
