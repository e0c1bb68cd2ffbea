import { randomBytes } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import type { Action, Hex } from '../../core/action.js'
import { formatDecimal } from '../../core/decimal.js'
import { frameMessage, type FrameWords } from '../../core/entry/auth-frame.js'
import { signedAmount } from '../../core/entry/order-terms.js'
import { encodeTradeData } from '../../core/entry/read-action.js'
import { actionJson } from '../../core/entry/signed-action.js'
import { SIGNED_STRUCTS } from '../../core/entry/signed-structs.js'
import type { Market } from '../../core/model/market.js'
import { amountE18, E18, mulDivCeil, priceE18, roundedUp } from '../../core/money.js'
import type { Deployment } from '../reads/deployment.js'
import { matchingDomain } from './vectors.js'

/** Who signs an example, where, and when. */
export interface ExampleOf {
  readonly deployment: Deployment
  readonly words: FrameWords
  readonly market: Market
  /** An account of a devnet, whose key is public. */
  readonly account: { readonly privateKey: Hex; readonly subaccountId: string }
  readonly nowSec: number
  readonly validSec: number
}

const WORST_FEE_BPS = 30n
/** 0.0001 USDC for one cNGN and 10,000 cNGN: 1 USDC in all, far from any price, so that it rests. */
const PRICE_E18 = E18 / 10_000n
const AMOUNT_E18 = 10_000n * E18

/**
 * A bid on a spot market as `POST /v1/orders` takes it, with a nonce of its own, and the frame that proves its owner, as the
 * header carries it.
 */
export async function signedExample(of: ExampleOf) {
  const { deployment, words, market, account, nowSec } = of
  const signer = privateKeyToAccount(account.privateKey)
  const owner = signer.address.toLowerCase() as Hex
  const limitPrice = priceE18(roundedUp(PRICE_E18, market.tickSize))
  const amount = amountE18(roundedUp(AMOUNT_E18, market.minSize))
  const worstFee = mulDivCeil(limitPrice, WORST_FEE_BPS, 10_000n)
  const nonce = BigInt(`0x${randomBytes(31).toString('hex')}`)
  const subaccountId = BigInt(account.subaccountId)
  const expirySec = nowSec + of.validSec
  const action: Action = {
    subaccountId,
    nonce,
    module: market.tradeModuleAddress,
    data: encodeTradeData({
      asset: market.assetAddress,
      subId: market.subId,
      limitPrice,
      worstFee,
      desiredAmount: signedAmount(market, amount),
      recipientId: subaccountId,
      isBid: true,
    }),
    expiry: BigInt(expirySec),
    owner,
    signer: owner,
  }
  const signature = await signer.signTypedData({
    domain: matchingDomain(deployment),
    types: { Action: SIGNED_STRUCTS.Action },
    primaryType: 'Action',
    message: action,
  })
  const frame = { address: owner, nonce: String(nonce), issued_at: nowSec, expiry: expirySec }
  const text = frameMessage('history', words, { ...frame, issuedAt: nowSec })
  const proof = { ...frame, signature: await signer.signMessage({ message: text }) }
  return {
    order: {
      order_id: `docs-${nonce.toString(36).slice(0, 12)}`,
      owner_address: owner,
      signer_address: owner,
      subaccount_id: String(subaccountId),
      recipient_id: String(subaccountId),
      nonce: String(nonce),
      asset_address: market.assetAddress,
      sub_id: String(market.subId),
      side: 'buy',
      limit_price: formatDecimal(limitPrice, 18),
      desired_amount: formatDecimal(amount, 18),
      worst_fee: String(worstFee),
      expiry: expirySec,
      action_json: actionJson(action),
      signature,
    },
    frame: Buffer.from(JSON.stringify(proof)).toString('base64url'),
  }
}
