import { decodeAbiParameters, decodeFunctionData, parseTransaction } from 'viem'
import type { Action, Address, Hex } from '../core/action.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import { matchingAbi } from './abi/matching.js'
import { ORDER_DATA } from './abi/payloads.js'
import { decodeBatch, isBatch } from './encode-batch.js'
import type { MatchCall } from './encode-match.js'

/** The inverse of encodeMatch; throws for any other calldata. */
export function decodeMatch(data: Hex): MatchCall {
  const { functionName, args } = decodeFunctionData({ abi: matchingAbi, data })
  if (functionName !== 'verifyAndMatch') throw new Error(`${functionName} is not a match`)
  const [actions, signatures, actionData] = args
  const [order] = decodeAbiParameters(ORDER_DATA, actionData)
  const fillDetails = order.fillDetails.map((fill) => ({
    filledAccount: fill.filledAccount,
    amountFilled: amountE18(fill.amountFilled),
    price: priceE18(fill.price),
    fee: quoteE18(fill.fee),
  }))
  const { takerAccount, managerData } = order
  const orderData = { takerAccount, takerFee: quoteE18(order.takerFee), fillDetails, managerData }
  return { actions: actions.map(lowered), signatures, orderData }
}

const lowered = (action: Action): Action => ({
  ...action,
  module: action.module.toLowerCase() as Address,
  owner: action.owner.toLowerCase() as Address,
  signer: action.signer.toLowerCase() as Address,
})

/** Calls of verifyAndMatch that a signed transaction makes, in their order; none when it calls nothing. */
export function matchCallsOf(raw: Hex): Hex[] {
  const { data } = parseTransaction(raw)
  if (data === undefined || data === '0x') return []
  return isBatch(data) ? decodeBatch(data).map(({ call }) => call) : [data]
}
