import { encodeAbiParameters, encodeFunctionData } from 'viem'
import { matchingAbi, ORDER_DATA } from '../../chain/abi/contracts.js'
import type { Action, Address, Hex, TradeData } from '../../core/action.js'
import { ANVIL_CHAIN_ID } from './anvil.js'
import type { Call, Trader, World } from './devnet-world.js'
import {
  ACTION_TYPES,
  DEPOSIT_DATA,
  MATCHING_DOMAIN,
  TRADE_DATA,
  WITHDRAWAL_DATA,
} from './payloads.js'

export const ONE = 10n ** 18n
const FAR_FUTURE = 4_000_000_000n
let lastNonce = 0n

export interface SignedAction {
  readonly action: Action
  readonly signature: Hex
}

export interface SignedOrder extends SignedAction {
  readonly trade: TradeData
}

/** Differences from a plain action of the trader on its own account, signed by itself. */
export type ActionOverrides = Partial<Action> & { readonly signedBy?: Trader['account'] }

/** The EIP-712 payload that a wallet is shown for an action. */
export function typedAction(world: World, action: Action) {
  return {
    domain: { ...MATCHING_DOMAIN, chainId: ANVIL_CHAIN_ID, verifyingContract: world.at.matching },
    types: ACTION_TYPES,
    primaryType: 'Action' as const,
    message: action,
  }
}

export async function signAction(
  world: World,
  trader: Trader,
  data: Hex,
  overrides: ActionOverrides = {},
): Promise<SignedAction> {
  const { signedBy = trader.account, ...fields } = overrides
  lastNonce += 1n
  const action: Action = {
    subaccountId: trader.subaccountId,
    nonce: lastNonce,
    module: world.at.spot_trade_module,
    data,
    expiry: FAR_FUTURE,
    owner: trader.address,
    signer: trader.address,
    ...fields,
  }
  return { action, signature: await signedBy.signTypedData(typedAction(world, action)) }
}

/** An order for 100,000 cNGN at 0.00065 with room for a fee of 25 bps, unless the overrides say otherwise. */
export async function signOrder(
  world: World,
  trader: Trader,
  trade: Partial<TradeData> & { readonly isBid: boolean },
  overrides: ActionOverrides = {},
): Promise<SignedOrder> {
  const full: TradeData = {
    asset: world.at.wrapped_cngn,
    subId: 0n,
    limitPrice: 650_000_000_000_000n,
    desiredAmount: 100_000n * ONE,
    worstFee: 1_625_000_000_000n,
    recipientId: overrides.subaccountId ?? trader.subaccountId,
    ...trade,
  }
  const data = encodeAbiParameters(TRADE_DATA, [full])
  return { ...(await signAction(world, trader, data, overrides)), trade: full }
}

export interface Fill {
  readonly maker: SignedOrder
  readonly amount?: bigint
  readonly price?: bigint
  readonly fee?: bigint
  readonly filledAccount?: bigint
}

export interface Match {
  readonly taker: SignedOrder
  readonly fills: readonly Fill[]
  readonly takerFee?: bigint
  readonly takerAccount?: bigint
  readonly managerData?: Hex
}

/** `actionData` of a match; each fill defaults to all of the maker's order at the maker's price, free of fee. */
export function orderData(match: Match): Hex {
  const fillDetails = match.fills.map(({ maker, ...fill }) => ({
    filledAccount: fill.filledAccount ?? maker.action.subaccountId,
    amountFilled: fill.amount ?? maker.trade.desiredAmount,
    price: fill.price ?? maker.trade.limitPrice,
    fee: fill.fee ?? 0n,
  }))
  const order = {
    takerAccount: match.takerAccount ?? match.taker.action.subaccountId,
    takerFee: match.takerFee ?? 0n,
    fillDetails,
    managerData: match.managerData ?? '0x',
  }
  return encodeAbiParameters(ORDER_DATA, [order])
}

export function matchCall(world: World, match: Match): Call {
  const signed = [match.taker, ...match.fills.map((fill) => fill.maker)]
  return actionsCall(world, signed, orderData(match))
}

/** verifyAndMatch by the allowed executor. */
export function actionsCall(
  world: World,
  signed: readonly SignedAction[],
  actionData: Hex = '0x',
): Call {
  const data = encodeFunctionData({
    abi: matchingAbi,
    functionName: 'verifyAndMatch',
    args: [signed.map((s) => s.action), signed.map((s) => s.signature), actionData],
  })
  return { from: world.executor, to: world.at.matching, data }
}

export async function depositCall(
  world: World,
  trader: Trader,
  deposit: { amount: bigint; asset: Address; manager?: Address },
  overrides: ActionOverrides = {},
): Promise<Call> {
  return actionsCall(world, [await signDeposit(world, trader, deposit, overrides)])
}

export function signDeposit(
  world: World,
  trader: Trader,
  deposit: { amount: bigint; asset: Address; manager?: Address },
  overrides: ActionOverrides = {},
): Promise<SignedAction> {
  const { amount, asset, manager } = deposit
  const data = encodeAbiParameters(DEPOSIT_DATA, [
    { amount, asset, managerForNewAccount: manager ?? world.at.spot_manager },
  ])
  return signAction(world, trader, data, { module: world.at.deposit_module, ...overrides })
}

export function signWithdrawal(
  world: World,
  trader: Trader,
  withdrawal: { asset: Address; assetAmount: bigint },
  overrides: ActionOverrides = {},
): Promise<SignedAction> {
  const data = encodeAbiParameters(WITHDRAWAL_DATA, [withdrawal])
  return signAction(world, trader, data, { module: world.at.withdrawal_module, ...overrides })
}
