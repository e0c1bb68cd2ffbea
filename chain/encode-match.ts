import { getAbiItem, toFunctionSelector } from 'viem'
import type { Action, Hex } from '../core/action.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../core/money.js'
import { matchingAbi } from './abi/matching.js'
import { addressWord, bytesWords, listWords, tuple, word } from './abi-text.js'

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

const VERIFY_AND_MATCH = toFunctionSelector(
  getAbiItem({ abi: matchingAbi, name: 'verifyAndMatch' }),
)

/** Calldata of verifyAndMatch. Whether the chain will like it is not judged here. */
export function encodeMatch({ actions, signatures, orderData }: MatchCall): Hex {
  const args = tuple([
    { tail: listWords(actions.map(actionWords)) },
    { tail: listWords(signatures.map(bytesWords)) },
    { tail: bytesWords(encodeOrderData(orderData)) },
  ])
  return `${VERIFY_AND_MATCH}${args}`
}

function actionWords(action: Action): string {
  return tuple([
    word(action.subaccountId),
    word(action.nonce),
    addressWord(action.module),
    { tail: bytesWords(action.data) },
    word(action.expiry),
    addressWord(action.owner),
    addressWord(action.signer),
  ])
}

function encodeOrderData({ takerAccount, takerFee, fillDetails, managerData }: OrderData): Hex {
  const fills = fillDetails.map(
    ({ filledAccount, amountFilled, price, fee }) =>
      word(filledAccount) + word(amountFilled) + word(price) + word(fee),
  )
  const order = tuple([
    word(takerAccount),
    word(takerFee),
    { tail: word(fills.length) + fills.join('') },
    { tail: bytesWords(managerData) },
  ])
  return `0x${tuple([{ tail: order }])}`
}
