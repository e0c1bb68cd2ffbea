import type { Action, ActionJson, Hex } from '../action.js'
import type { Market } from '../model/market.js'
import type { Order } from '../model/order.js'
import { actionFields, type ReadAction, wordOf } from './read-action.js'
import { signedAmount } from './order-terms.js'

/**
 * The signed action of an order. The checks of an order make sure that it says the same as the order's terms and the
 * market, so it is not kept: it is made from them again where it is needed. Its canonical spelling has integers without
 * leading zeros, and addresses and data in lower case; the order keeps the texts that a client spelled otherwise.
 */

/** The order's action with its numbers read. */
export function actionOf(market: Market, order: Order): Action {
  return {
    subaccountId: order.subaccountId,
    nonce: order.nonce,
    module: market.tradeModuleAddress,
    data: tradeDataOf(market, order),
    expiry: order.actionExpirySec,
    owner: order.owner,
    signer: order.signer,
  }
}

/** An action as requests carry it, in its canonical spelling. */
export const actionJson = (action: Action): ActionJson => ({
  subaccount_id: String(action.subaccountId),
  nonce: String(action.nonce),
  module: action.module,
  data: action.data,
  expiry: String(action.expiry),
  owner: action.owner,
  signer: action.signer,
})

/** The order's `action_json` exactly as it was sent. */
export function actionJsonOf(market: Market, order: Order): ActionJson {
  const { ownTexts } = order
  const json = actionJson(actionOf(market, order))
  return ownTexts === undefined ? json : { ...json, ...ownTexts }
}

/** The texts of a read action that are not canonical; undefined when all are. */
export function ownTextsOf({ json, action }: ReadAction): Partial<ActionJson> | undefined {
  const own = actionFields.filter((name) => !isCanonical(json[name], action, name))
  return own.length === 0
    ? undefined
    : Object.fromEntries(own.map((name) => [name, json[name]] as const))
}

/** The text already has the action's value; only its spelling is asked. */
function isCanonical(text: string, action: Action, name: keyof ActionJson): boolean {
  switch (name) {
    case 'subaccount_id':
    case 'nonce':
    case 'expiry':
      return text === '0' || !text.startsWith('0')
    case 'module':
    case 'data':
    case 'owner':
    case 'signer':
      return text === action[name]
  }
}

/** The seven words of the order's data (ORD-037). */
function tradeDataOf(market: Market, order: Order): Hex {
  const amount = signedAmount(market, order.signedDesiredAmount ?? order.desiredAmount)
  const limitPrice = order.signedLimitPrice ?? order.limitPrice
  const terms = wordOf(limitPrice) + wordOf(amount) + wordOf(order.worstFee)
  const flag = order.side === 'buy' ? 1n : 0n
  return `0x${instrumentWords(market)}${terms}${wordOf(order.subaccountId)}${wordOf(flag)}`
}

const wordsOfInstruments = new WeakMap<Market, string>()

/** The words that are the same for every order of a market. */
function instrumentWords(market: Market): string {
  const known = wordsOfInstruments.get(market)
  if (known !== undefined) return known
  const words = wordOf(BigInt(market.assetAddress)) + wordOf(market.subId)
  wordsOfInstruments.set(market, words)
  return words
}
