import { domainSeparator, hashStruct, hashTypedData, keccak256, toHex } from 'viem'
import { signMessage, signTypedData } from 'viem/accounts'
import type { Action, Hex, SigningVector, SigningVectors } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { formatDecimal } from '../../core/decimal.js'
import { frameMessage, type FramePurpose, type FrameWords } from '../../core/entry/auth-frame.js'
import { signedAmount } from '../../core/entry/order-terms.js'
import { actionJson } from '../../core/entry/signed-action.js'
import {
  encodeDepositData,
  encodeTradeData,
  encodeWithdrawalData,
} from '../../core/entry/read-action.js'
import {
  scopeOf,
  SIGNED_STRUCTS,
  typeString,
  type SignedStruct,
} from '../../core/entry/signed-structs.js'
import { MAX_CANCEL_PROOF_SEC, MIN_DEPOSIT_UNITS_6 } from '../../core/limits.js'
import { amountE18, priceE18 } from '../../core/money.js'
import type { Deployment } from '../reads/deployment.js'
import { personalDigest } from './verify-frame.js'
import { bytesToHex } from './keys.js'

/**
 * Signatures of one deployment that a client can compare its own with, step by step. They are made with viem,
 * not with the hashes that verify requests, so that each checks the other.
 */

export interface VectorsOf {
  readonly deployment: Deployment
  readonly words: FrameWords
  readonly markets: readonly Market[]
}

/** No account of any chain uses it. */
const PUBLISHED_KEY: Hex = `0x${'c0ffee'.repeat(10)}c0ff`
/** Its address; deriving it would cost each start of the gateway a twentieth of a second. */
const owner: Hex = '0x39de071aad169852a91be4cff7b56bf3e21ec763'

/** Fixed, so that the vectors of a deployment never change: 2027-01-01T00:00:00Z. */
const EXPIRY_SEC = 1_798_761_600
const ISSUED_SEC = EXPIRY_SEC - 240
const SUBACCOUNT = 7n
/** 0.01 USDC for each unit signed, at 1e18. */
const WORST_FEE = 10n ** 16n

type Domain = NonNullable<SigningVector['domain']> & { readonly verifyingContract: Hex }

/** The domain of actions and cancels. */
export const matchingDomain = ({
  chainId,
  matching,
}: Pick<Deployment, 'chainId' | 'matching'>): Domain => ({
  name: 'Matching',
  version: '1.0',
  chainId,
  verifyingContract: matching,
})

/** The domain of permits on USDC. */
export const permitDomain = ({ chainId, usdc }: Pick<Deployment, 'chainId' | 'usdc'>): Domain => ({
  name: 'USD Coin',
  version: '2',
  chainId,
  verifyingContract: usdc,
})

/** A vector for each thing that clients sign: an order of every market, cancel, deposit, permit, withdrawal and both frames. */
export async function signingVectors(of: VectorsOf): Promise<SigningVectors> {
  const { deployment, markets } = of
  const {
    depositModule,
    withdrawalModule,
    cashAsset,
    perpManager = deployment.matching,
  } = deployment
  const domain = matchingDomain(deployment)
  const call = (nonce: bigint, module: Hex, data: Hex): Action => ({
    subaccountId: SUBACCOUNT,
    nonce,
    module,
    data,
    expiry: BigInt(EXPIRY_SEC),
    owner,
    signer: owner,
  })
  const action = async (name: string, signed: Action, bodyOf: BodyOf) => {
    const vector = await typed({ name, domain, struct: 'Action', message: { ...signed } })
    return { ...vector, body: bodyOf(actionJson(signed), vector.signature) }
  }
  const transfer: BodyOf = (json, signature) => ({ action: json, signature })
  const amount = MIN_DEPOSIT_UNITS_6
  const deposit = encodeDepositData({ amount, asset: cashAsset, managerForNewAccount: perpManager })
  const withdrawal = encodeWithdrawalData({ asset: cashAsset, amount })
  const cancel = { owner, signer: owner, nonce: 1n, expiry: BigInt(EXPIRY_SEC) }
  const permit = {
    owner,
    spender: depositModule,
    value: amount,
    nonce: 0n,
    deadline: cancel.expiry,
  }
  const cancelVector = await typed({ name: 'cancel', domain, struct: 'Cancel', message: cancel })
  return {
    private_key: PUBLISHED_KEY,
    address: owner,
    vectors: [
      ...(await Promise.all(
        markets.map((market, index) => {
          const nonce = BigInt(index + 1)
          const data = orderData(market)
          return action(
            `order on ${market.market}`,
            call(nonce, market.tradeModuleAddress, data),
            orderBody(market),
          )
        }),
      )),
      {
        ...cancelVector,
        body: {
          owner_address: owner,
          nonce: '1',
          signer_address: owner,
          expiry: EXPIRY_SEC,
          signature: cancelVector.signature,
        },
      },
      await cancelAllVector(domain),
      await action('deposit', call(101n, depositModule, deposit), transfer),
      await typed({
        name: 'permit',
        domain: permitDomain(deployment),
        struct: 'Permit',
        message: permit,
      }),
      await action('withdrawal', call(102n, withdrawalModule, withdrawal), transfer),
      await frame('history', of.words),
      await frame('socket', of.words),
    ],
  }
}

type Body = Readonly<Record<string, unknown>>
type BodyOf = (json: ReturnType<typeof actionJson>, signature: string) => Body

async function cancelAllVector(domain: Domain): Promise<SigningVector> {
  const issuedSec = EXPIRY_SEC - MAX_CANCEL_PROOF_SEC
  const message = {
    owner,
    signer: owner,
    scope: scopeOf({ kind: 'cancel_all' }),
    issuedAt: BigInt(issuedSec),
    expiry: BigInt(EXPIRY_SEC),
  }
  const vector = await typed({ name: 'cancel-all', domain, struct: 'CancelAll', message })
  const { signature } = vector
  return {
    ...vector,
    body: {
      owner_address: owner,
      signer_address: owner,
      signature,
      issued_at: issuedSec,
      expiry: EXPIRY_SEC,
    },
  }
}

interface TypedMessage {
  readonly name: string
  readonly domain: Domain
  readonly struct: SignedStruct
  readonly message: Readonly<Record<string, bigint | string>>
}

async function typed({
  name,
  domain,
  struct,
  message: data,
}: TypedMessage): Promise<SigningVector> {
  const types = { [struct]: SIGNED_STRUCTS[struct] }
  const signed = { domain, types, primaryType: struct, message: data }
  return {
    name,
    scheme: 'eip712',
    domain,
    type: typeString(struct),
    message: Object.fromEntries(
      SIGNED_STRUCTS[struct].map((field) => [field.name, String(data[field.name])]),
    ),
    domain_separator: domainSeparator({ domain }),
    type_hash: keccak256(toHex(typeString(struct))),
    struct_hash: hashStruct({ data, primaryType: struct, types }),
    digest: hashTypedData(signed),
    signature: await signTypedData({ ...signed, privateKey: PUBLISHED_KEY }),
  }
}

async function frame(purpose: FramePurpose, words: FrameWords): Promise<SigningVector> {
  const body = { address: owner, nonce: '1', issued_at: ISSUED_SEC, expiry: EXPIRY_SEC }
  const text = frameMessage(purpose, words, { ...body, issuedAt: ISSUED_SEC })
  const signature = await signMessage({ message: text, privateKey: PUBLISHED_KEY })
  return {
    name: `frame for the ${purpose}`,
    scheme: 'eip191',
    text,
    signature,
    digest: bytesToHex(personalDigest(text)),
    body: { ...body, signature },
  }
}

/** Three times the smallest size at ten ticks. */
const sizeOf = ({ minSize }: Market) => amountE18(3n * minSize)
const priceOf = ({ tickSize }: Market) => priceE18(10n * tickSize)

const orderData = (market: Market): Hex =>
  encodeTradeData({
    asset: market.assetAddress,
    subId: market.subId,
    limitPrice: priceOf(market),
    desiredAmount: signedAmount(market, sizeOf(market)),
    worstFee: WORST_FEE,
    recipientId: SUBACCOUNT,
    isBid: true,
  })

const orderBody =
  (market: Market): BodyOf =>
  (json, signature) => ({
    order_id: 'signing-vector',
    owner_address: owner,
    signer_address: owner,
    subaccount_id: String(SUBACCOUNT),
    recipient_id: String(SUBACCOUNT),
    nonce: json.nonce,
    asset_address: market.assetAddress,
    sub_id: String(market.subId),
    side: 'buy',
    limit_price: formatDecimal(priceOf(market), 18),
    desired_amount: formatDecimal(sizeOf(market), 18),
    worst_fee: String(WORST_FEE),
    expiry: EXPIRY_SEC,
    action_json: json,
    signature,
  })
