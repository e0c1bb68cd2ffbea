import type { Action, Address, Hex } from '../../core/action.js'
import { decodeTradeData, encodeTradeData, isSignatureText } from '../../core/entry/read-action.js'
import type { Market } from '../../core/model/market.js'
import { bytesToHex, hexToBytes, keccak256, keccakText, recoverStrict } from './keys.js'
import { formFault } from './signature-form.js'
import { personalDigest } from './verify-frame.js'
import { createActionHasher, domainSeparator, type ActionDomain } from './verify-signature.js'

/** The mistake that explains a signature: with it made, the signature is the signer's. */
export interface SignatureMistake {
  readonly code: string
  readonly message: string
}

export interface RefusedSignature {
  readonly action: Action
  readonly signature: string
  readonly domain: ActionDomain
  /** The market that the order names. */
  readonly market: Market
}

/** A word keeps what a mistake would overflow; such values were not signed. */
const asWord = (value: bigint): bigint => BigInt.asUintN(255, value)
/** Chains for which clients are configured by accident: Ethereum, Base and their test networks, and development chains. */
const CHAINS = [1, 10, 137, 1_337, 8_453, 31_337, 42_161, 84_532, 11_155_111]
/** Spellings of the domain's name and version. */
const OTHER_DOMAINS = [
  ...['1', '1.0.0', '2'].map((version) => ({ name: 'Matching', version })),
  ...['1', '1.0'].map((version) => ({ name: 'matching', version })),
]
const ZERO: Address = `0x${'0'.repeat(40)}`
const E12 = 10n ** 12n
const E18 = 10n ** 18n

/**
 * The first of the known mistakes that explains the signature, the likeliest first; undefined when none does. Costs some
 * dozens of recoveries, about 3 ms: for callers that ask for it, not for each refused order.
 */
export function likelyMistake(refused: RefusedSignature): SignatureMistake | undefined {
  const { signature } = refused
  if (!isSignatureText(signature)) return inSignature('is not 0x and hex digits')
  const bytes = hexToBytes(signature)
  return inForm(refused, bytes) ?? inMessage(refused, bytes) ?? inDigest(refused, bytes)
}

const inSignature = (fault: string): SignatureMistake => ({
  code: 'signature_form',
  message: `the signature ${fault}`,
})

/** Mistakes in the 65 bytes of a signature over the right digest. */
function inForm(
  { action, domain }: RefusedSignature,
  bytes: Uint8Array,
): SignatureMistake | undefined {
  const fault = formFault(createActionHasher(domain).digest(action), bytes, action.signer)
  if (fault !== undefined) return inSignature(fault)
  return bytes.length === 65 ? undefined : inSignature(`has ${bytes.length} bytes instead of 65`)
}

/** Mistakes in the domain or in a field of the message. */
function inMessage(refused: RefusedSignature, bytes: Uint8Array): SignatureMistake | undefined {
  const { action, domain } = refused
  const isSigned = (changed: Action, on: ActionDomain = domain) =>
    recoverStrict(createActionHasher(on).digest(changed), bytes) === action.signer
  if (action.signer !== action.owner) {
    const hasher = createActionHasher(domain)
    const sent = [action, { ...action, signer: action.owner }].map((each) => hasher.digest(each))
    if (sent.some((digest) => recoverStrict(digest, bytes) === action.owner)) {
      return {
        code: 'owner_signed',
        message: 'signed by the owner: signer_address and action_json.signer name another key',
      }
    }
  }
  for (const chainId of CHAINS) {
    if (chainId !== domain.chainId && isSigned(action, { ...domain, chainId })) {
      return {
        code: 'wrong_chain_id',
        message: `signed for chain ${chainId}: this venue is on chain ${domain.chainId}`,
      }
    }
  }
  for (const words of OTHER_DOMAINS) {
    const hasher = createActionHasher(domain, domainSeparator(domain, words))
    if (recoverStrict(hasher.digest(action), bytes) === action.signer) {
      return {
        code: 'wrong_domain',
        message: `signed for ${words.name} version ${words.version}: the domain is Matching version 1.0`,
      }
    }
  }
  for (const [name, verifyingContract] of otherContracts(refused)) {
    if (isSigned(action, { ...domain, verifyingContract })) {
      return {
        code: 'wrong_verifying_contract',
        message: `signed with ${name} as verifyingContract: it is the matching contract, ${domain.verifyingContract}`,
      }
    }
  }
  for (const { code, message, action: changed } of otherActions(refused)) {
    if (isSigned(changed)) return { code, message }
  }
  return undefined
}

const otherContracts = ({ market }: RefusedSignature): [string, Address][] => [
  ['the trade module', market.tradeModuleAddress],
  ['the asset', market.assetAddress],
  ['the margin manager', market.marginManagerAddress],
  ['the quote asset', market.quoteAssetAddress],
  ['the zero address', ZERO],
]

interface OtherAction extends SignatureMistake {
  readonly action: Action
}

/** Actions that clients sign instead of the one that they send. */
function otherActions(refused: RefusedSignature): OtherAction[] {
  const { action } = refused
  const withData = (data: Hex): Action => ({ ...action, data })
  const fields = [
    {
      code: 'expiry_in_milliseconds',
      message: 'signed with expiry in milliseconds',
      action: { ...action, expiry: asWord(action.expiry * 1_000n) },
    },
    {
      code: 'other_subaccount',
      message: 'signed with 0 as subaccountId',
      action: { ...action, subaccountId: 0n },
    },
    { code: 'no_data', message: 'signed with empty data', action: withData('0x') },
  ]
  return [...fields, ...otherData(action)]
}

/** The seven words of an order, changed one mistake at a time. */
function otherData(action: Action): OtherAction[] {
  const read = decodeTradeData(action.data)
  if ('refusal' in read) return []
  const { data } = read
  const { limitPrice, desiredAmount, worstFee, recipientId, isBid } = data
  const as = (code: string, message: string, change: Partial<typeof data>): OtherAction => ({
    code,
    message,
    action: { ...action, data: encodeTradeData({ ...data, ...change }) },
  })
  const scaled = [
    { limitPrice: limitPrice / E18, desiredAmount: desiredAmount / E18 },
    { desiredAmount: desiredAmount / E18 },
    { limitPrice: limitPrice / E12, desiredAmount: desiredAmount / E12 },
    { desiredAmount: desiredAmount / E12 },
    { limitPrice: limitPrice / E12 },
    { limitPrice: asWord(limitPrice * E18), desiredAmount: asWord(desiredAmount * E18) },
  ]
  const inverse = limitPrice > 0n ? (E18 * E18) / limitPrice : 0n
  return [
    as('side_flipped', 'signed with the other side as isBid', { isBid: !isBid }),
    ...scaled.map((change) =>
      as('wrong_scale', 'signed with limitPrice or desiredAmount not at 1e18', change),
    ),
    as('swapped_words', 'signed with limitPrice and desiredAmount exchanged', {
      limitPrice: desiredAmount,
      desiredAmount: limitPrice,
    }),
    as('trader_terms_signed', 'signed with the price of trader terms: sign the engine’s', {
      limitPrice: inverse,
    }),
    as('trader_terms_signed', 'signed with the terms of a trader: sign the engine’s', {
      limitPrice: inverse,
      desiredAmount: asWord((desiredAmount * limitPrice) / E18),
      isBid: !isBid,
    }),
    as('worst_fee_not_signed', 'signed with 0 as worstFee', { worstFee: 0n }),
    as('worst_fee_scale', 'signed with worstFee not at 1e18', { worstFee: worstFee / E18 }),
    as('other_recipient', 'signed with 0 as recipientId', {
      recipientId: recipientId === 0n ? action.subaccountId : 0n,
    }),
  ]
}

/** Right message, wrong way of signing it. */
function inDigest(
  { action, domain }: RefusedSignature,
  bytes: Uint8Array,
): SignatureMistake | undefined {
  const hasher = createActionHasher(domain)
  const digest = hasher.digest(action)
  const isSigned = (signed: Uint8Array) => recoverStrict(signed, bytes) === action.signer
  const personal = keccak256(Buffer.from('\x19Ethereum Signed Message:\n32', 'utf8'), digest)
  if (isSigned(personal) || isSigned(personalDigest(bytesToHex(digest)))) {
    return {
      code: 'personal_sign',
      message: 'signed with personal_sign: sign the typed data (eth_signTypedData_v4)',
    }
  }
  const textData = Buffer.from(digest)
  if (isSigned(keccak256(textData)) || isSigned(keccakText(bytesToHex(digest)))) {
    return {
      code: 'digest_hashed',
      message: 'the digest was hashed once more before it was signed',
    }
  }
  return undefined
}
