import { encodeAbiParameters, encodeFunctionData } from 'viem'
import type { Action, Hex } from '../core/action.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../core/money.js'
import { matchingAbi } from './abi/matching.js'
import { ORDER_DATA } from './abi/payloads.js'

/** What one maker gives or takes; `fee` is its total. */
export interface FillDetail {
  readonly filledAccount: bigint
  readonly amountFilled: AmountE18
  readonly price: PriceE18
  readonly fee: QuoteE18
}

export interface OrderData {
  readonly takerAccount: bigint
  /** Total over all fills. */
  readonly takerFee: QuoteE18
  /** `fillDetails[i]` belongs to `actions[i + 1]`. */
  readonly fillDetails: readonly FillDetail[]
  /** Calls for the accounts' managers, already encoded; `0x` for none. */
  readonly managerData: Hex
}

/** One taker against one or more makers, as the matching contract takes it. */
export interface MatchCall {
  /** The taker first. */
  readonly actions: readonly Action[]
  readonly signatures: readonly Hex[]
  readonly orderData: OrderData
}

/** Calldata of verifyAndMatch. Whether the chain will like it is not judged here. */
export function encodeMatch({ actions, signatures, orderData }: MatchCall): Hex {
  return encodeFunctionData({
    abi: matchingAbi,
    functionName: 'verifyAndMatch',
    args: [actions, signatures, encodeAbiParameters(ORDER_DATA, [orderData])],
  })
}
