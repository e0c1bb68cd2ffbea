import {
  randomNonce,
  signDeposit,
  signPermit,
  tokenUnits,
  type NewDeposit,
  type SigningDomain,
  type TransferClient,
} from '../../client/index.js'
import type { Address, Hex } from '../../core/action.js'
import type { AccountsBody } from '../../interface/accounts.js'
import type { VenueFacts } from '../../interface/signing.js'
import { callData, firstWord } from './calls.js'
import { WalletFault } from './fault.js'
import { readCall } from './provider.js'
import { until } from './session-key.js'
import type { Signer } from './signer.js'
import type { WalletSender } from './transactions.js'

/** A token that a trading account takes. */
export type TokenName = 'USDC' | 'cNGN'

export type OpeningStep =
  /** The wallet asks its user to let the contract take the amount; left out where it may take it already. */
  | { readonly step: 'approve'; readonly state: 'asking' }
  | { readonly step: 'approve' | 'open'; readonly state: 'sent' | 'mined'; readonly hash: Hex }
  | { readonly step: 'open'; readonly state: 'asking' }
  /** The venue's index follows the chain within a block or two. */
  | { readonly step: 'find'; readonly state: 'waiting' }
  | { readonly step: 'find'; readonly state: 'done'; readonly subaccountId: string }

export interface UnseenOpening {
  readonly hash: Hex
  /** The accounts that the owner had before. */
  readonly known: readonly string[]
}

export interface TradingAccountTerms {
  readonly facts: Pick<VenueFacts, 'contracts'>
  readonly token: TokenName
  /** Decimal text with at most six decimals, in the token. */
  readonly amount: string
  /** Of the market that is to be traded: `margin_manager_address`. */
  readonly manager: Address
  /** What the venue knows of an owner: `GET /v1/accounts`. */
  readonly accounts: (owner: Address) => Promise<Pick<AccountsBody, 'accounts'>>
  /** Openings that the chain has carried out and the venue has not shown, by owner: another call goes on with them. */
  readonly unseen: Map<Address, UnseenOpening>
  readonly onStep?: (step: OpeningStep) => void
  readonly everyMs?: number
  readonly withinMs?: number
}

/**
 * Opens an account for spot and futures and funds it, by an approval and one transaction of the owner; resolves with its number once
 * the venue lists it. Throws WalletFault, and BadOrderTerms for an amount that is none. What was approved stays approved: a second
 * try asks for the opening alone. One that the chain has and the venue did not show in time is not sent again: a second try waits for it.
 */
export async function openTradingAccount(
  sender: WalletSender,
  terms: TradingAccountTerms,
): Promise<string> {
  const { manager, accounts, unseen, onStep = () => undefined } = terms
  const { owner } = sender
  const known =
    unseen.get(owner)?.known ??
    (await accounts(owner)).accounts.map((account) => account.subaccount_id)
  const hash = unseen.get(owner)?.hash ?? (await sendOpening(sender, terms, onStep))
  unseen.set(owner, { hash, known })
  onStep({ step: 'find', state: 'waiting' })
  let found: string | undefined
  const isShown = async (): Promise<boolean> => {
    const now = await accounts(owner)
    found = now.accounts.find(
      (account) =>
        !known.includes(account.subaccount_id) &&
        account.manager_address.toLowerCase() === manager.toLowerCase(),
    )?.subaccount_id
    return found !== undefined
  }
  await until(isShown, terms, hash)
  unseen.delete(owner)
  const subaccountId = found ?? ''
  onStep({ step: 'find', state: 'done', subaccountId })
  return subaccountId
}

async function sendOpening(
  sender: WalletSender,
  { facts, amount, manager, ...terms }: TradingAccountTerms,
  onStep: (step: OpeningStep) => void,
): Promise<Hex> {
  const { token, escrow } = tokenOf(facts, terms.token)
  const spender = contract(facts, 'sub_account_creator')
  const units = tokenUnits(amount)
  await approve(sender, { amount, onStep, token, units, spender })
  onStep({ step: 'open', state: 'asking' })
  const hash = await sender.send({
    to: spender,
    data: callData('createAndDepositSubAccount(address,uint256,address)', escrow, units, manager),
    deed: 'the opening of the account',
    onHash: (sent) => onStep({ step: 'open', state: 'sent', hash: sent }),
  })
  onStep({ step: 'open', state: 'mined', hash })
  return hash
}

/** Pays a token into an account that is open, by an approval and one transaction of the owner. Throws as openTradingAccount does. */
export async function fundTradingAccount(
  sender: WalletSender,
  terms: Omit<TradingAccountTerms, 'manager' | 'accounts' | 'unseen'> & {
    readonly subaccountId: string
  },
): Promise<void> {
  const { facts, subaccountId, onStep = () => undefined } = terms
  const { token, escrow } = tokenOf(facts, terms.token)
  const units = tokenUnits(terms.amount)
  await approve(sender, { amount: terms.amount, onStep, token, units, spender: escrow })
  onStep({ step: 'open', state: 'asking' })
  const hash = await sender.send({
    to: escrow,
    data: callData('deposit(uint256,uint256)', BigInt(subaccountId), units),
    deed: 'the deposit',
    onHash: (sent) => onStep({ step: 'open', state: 'sent', hash: sent }),
  })
  onStep({ step: 'open', state: 'mined', hash })
  onStep({ step: 'find', state: 'done', subaccountId })
}

interface Approval {
  readonly token: Address
  readonly units: bigint
  readonly spender: Address
  readonly amount: string
  readonly onStep: (step: OpeningStep) => void
}

/** Lets a contract take so much of the owner's token and no more. Throws WalletFault `no_tokens` where the owner has less. */
async function approve(
  sender: WalletSender,
  { token, units, spender, amount, onStep }: Approval,
): Promise<void> {
  const { provider, owner } = sender
  const read = async (data: Hex): Promise<bigint> =>
    firstWord(await readCall(provider, { to: token, data })) ?? 0n
  if ((await read(callData('balanceOf(address)', owner))) < units) {
    throw new WalletFault(
      'no_tokens',
      `The wallet holds less than ${amount}.`,
      'Enter a smaller amount, or send tokens to the wallet first.',
    )
  }
  if ((await read(callData('allowance(address,address)', owner, spender))) >= units) return
  onStep({ step: 'approve', state: 'asking' })
  const hash = await sender.send({
    to: token,
    data: callData('approve(address,uint256)', spender, units),
    deed: 'the approval',
    onHash: (sent) => onStep({ step: 'approve', state: 'sent', hash: sent }),
  })
  onStep({ step: 'approve', state: 'mined', hash })
}

type VenueContracts = Pick<VenueFacts, 'contracts'>

const tokenOf = (facts: VenueContracts, name: TokenName) =>
  name === 'USDC'
    ? { token: contract(facts, 'usdc'), escrow: contract(facts, 'wrapped_usdc') }
    : { token: contract(facts, 'cngn'), escrow: contract(facts, 'wrapped_cngn') }

/** The address of a contract of the venue. Throws WalletFault `unsupported` where it has none. */
export function contract({ contracts }: VenueContracts, name: string): Address {
  const address = contracts[name]
  if (address !== undefined) return address as Address
  throw new WalletFault(
    'unsupported',
    'This venue opens no accounts in one transaction.',
    'Ask the operator of the venue how to open one.',
  )
}

export type FundingStep =
  /** The wallet asks its user: to let the venue take the USDC, then to deposit it. Neither costs gas. */
  | { readonly step: 'permit' | 'deposit'; readonly state: 'asking' }
  | { readonly step: 'deposit'; readonly state: 'sent' }

export interface FundingTerms {
  readonly facts: Pick<VenueFacts, 'contracts'>
  readonly domain: SigningDomain
  readonly transfers: Pick<TransferClient, 'permitNonce'>
  /** Decimal text with at most six decimals, USDC. */
  readonly amount: string
  /** The account to pay into; absent: a new one is opened. */
  readonly subaccountId?: string | undefined
  /** Unix seconds by the venue's clock. */
  readonly nowSec: () => number
  readonly onStep?: (step: FundingStep) => void
}

/** How long what moves money may be carried out, in seconds. */
export const SIGNED_FOR_SEC = 300

/**
 * Signs the deposit of USDC into a perpetual account, and the permit in it. Throws what the signer throws, OutcomeUnknown and
 * VenueRefused of the read of the permit's number, BadOrderTerms for an amount that is none, and WalletFault `unsupported`.
 */
export async function signFunding(signer: Signer, terms: FundingTerms): Promise<NewDeposit> {
  const { facts, domain, transfers, amount, subaccountId, onStep = () => undefined } = terms
  const depositModule = contract(facts, 'deposit_module')
  const tokenNonce = await transfers.permitNonce(signer.address)
  const endSec = terms.nowSec() + SIGNED_FOR_SEC
  onStep({ step: 'permit', state: 'asking' })
  const permit = await signPermit(signer, {
    chainId: domain.chainId,
    usdc: contract(facts, 'usdc'),
    depositModule,
    amount,
    tokenNonce,
    deadlineSec: endSec,
  })
  onStep({ step: 'deposit', state: 'asking' })
  return signDeposit(signer, domain, {
    depositModule,
    amount,
    permit,
    nonce: randomNonce(),
    expirySec: endSec,
    cashAsset: contract(facts, 'cash_asset'),
    perpManager: contract(facts, 'perp_manager'),
    ...(subaccountId !== undefined && { subaccountId }),
  })
}
