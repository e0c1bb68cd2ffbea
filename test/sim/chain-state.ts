import { encodeErrorResult, type Abi } from 'viem'
import { errorsAbi } from '../../chain/abi/errors.js'
import type { Address, Hex } from '../../core/action.js'

const repeated = (pair: string): Address => `0x${pair.repeat(20)}`

export const CHAIN_ID = 31_337
/** Where the contracts of the simulated chain are. */
export const AT = {
  matching: repeated('ab'),
  subAccounts: repeated('ac'),
  batchExecutor: repeated('ba'),
  spotModule: repeated('e1'),
  perpModule: repeated('e2'),
  futureModule: repeated('e3'),
  cngn: repeated('c1'),
  usdc: repeated('d1'),
  /** Also answers as the feed of the stable token. */
  perpAsset: repeated('c2'),
  cash: repeated('d2'),
  futureAsset: repeated('c3'),
  /** Of spot balances and of futures margin. */
  manager: repeated('f1'),
  perpManager: repeated('f2'),
  auction: repeated('a1'),
} as const
/** The account that takes the fees. */
export const FEE_ACCOUNT = 1n

/** A perpetual with its feeds. */
export interface PerpState {
  readonly mark: bigint
  /** What a long position of 1.0 has paid in funding since the beginning. */
  readonly funding: bigint
  /** Whether the feeds are too old to be read. */
  readonly isStale: boolean
}

/** A series of dated futures with its index. */
export interface FutureState {
  readonly mark: bigint
  readonly index: bigint
  readonly isStale: boolean
  readonly expirySec: number
  /** cNGN that debts have paid and claims have not drawn. */
  readonly pool: bigint
}

/** Everything the contracts know; copied whole for each block, since it is small. */
export interface ChainState {
  /** Transactions mined, by sender. */
  readonly nonces: Map<Address, number>
  /** By `<account> <asset>`, at 1e18; positions as well. */
  readonly balances: Map<string, bigint>
  /** What accounts were given or lost otherwise than by matches, by the same key. */
  readonly given: Map<string, bigint>
  /** By `<owner> <nonce>`. */
  readonly filled: Map<string, bigint>
  readonly seenData: Map<string, Hex>
  /** Owner of each account that matching holds. */
  readonly owners: Map<bigint, Address>
  /** Manager of each account. */
  readonly managers: Map<bigint, Address>
  /** Owners that are contracts, and whether these vouch for what their owner signed. */
  readonly wallets: Map<Address, boolean>
  /** Code to which keys delegate (EIP-7702). */
  readonly delegates: Map<Address, Address>
  /** Who may settle trades, and who may let the batch executor do so: `<contract> <caller>`. */
  readonly rights: Map<string, boolean>
  /** Managers that the guardian has paused. */
  readonly paused: Set<Address>
  /** Accounts of the perpetual that are auctioned. */
  readonly auctions: Set<bigint>
  /** Absent where there is no such market. */
  perp: PerpState | undefined
  future: FutureState | undefined
  /** Mark less funding at which an account of the perpetual was last settled. */
  readonly settledAt: Map<bigint, bigint>
  /** Variation margin in cNGN that is not paid, and the mark up to which it is accrued. */
  readonly ledgers: Map<bigint, bigint>
  readonly accruedAt: Map<bigint, bigint>
}

export const emptyState = (): ChainState => ({
  nonces: new Map(),
  balances: new Map(),
  given: new Map(),
  filled: new Map(),
  seenData: new Map(),
  owners: new Map(),
  managers: new Map(),
  wallets: new Map(),
  delegates: new Map(),
  rights: new Map(),
  paused: new Set(),
  auctions: new Set(),
  perp: undefined,
  future: undefined,
  settledAt: new Map(),
  ledgers: new Map(),
  accruedAt: new Map(),
})

export const copyState = (state: ChainState): ChainState => ({
  ...state,
  nonces: new Map(state.nonces),
  balances: new Map(state.balances),
  given: new Map(state.given),
  filled: new Map(state.filled),
  seenData: new Map(state.seenData),
  owners: new Map(state.owners),
  managers: new Map(state.managers),
  wallets: new Map(state.wallets),
  delegates: new Map(state.delegates),
  rights: new Map(state.rights),
  paused: new Set(state.paused),
  auctions: new Set(state.auctions),
  settledAt: new Map(state.settledAt),
  ledgers: new Map(state.ledgers),
  accruedAt: new Map(state.accruedAt),
})

/** A copy of what a match may change; what it does not is shared. */
export const copyForMatch = (state: ChainState): ChainState => ({
  ...state,
  balances: new Map(state.balances),
  filled: new Map(state.filled),
  seenData: new Map(state.seenData),
  settledAt: new Map(state.settledAt),
  ledgers: new Map(state.ledgers),
  accruedAt: new Map(state.accruedAt),
})

export const balanceKey = (account: bigint, asset: Address): string => `${account} ${asset}`

export const balanceOf = ({ balances }: ChainState, account: bigint, asset: Address): bigint =>
  balances.get(balanceKey(account, asset)) ?? 0n

export function addBalance(
  state: ChainState,
  account: bigint,
  asset: Address,
  amount: bigint,
): void {
  state.balances.set(balanceKey(account, asset), balanceOf(state, account, asset) + amount)
}

/** Sets a balance as a deposit or a withdrawal does. */
export function setBalance(
  state: ChainState,
  account: bigint,
  asset: Address,
  amount: bigint,
): void {
  const key = balanceKey(account, asset)
  const change = amount - balanceOf(state, account, asset)
  state.balances.set(key, amount)
  state.given.set(key, (state.given.get(key) ?? 0n) + change)
}

const rightKey = (contract: Address, caller: Address): string => `${contract} ${caller}`

export const mayCall = ({ rights }: ChainState, contract: Address, caller: Address): boolean =>
  rights.get(rightKey(contract, caller)) === true

/** As the contracts' owner does. */
export function allow(state: ChainState, contract: Address, caller: Address): void {
  state.rights.set(rightKey(contract, caller), true)
}

/** Lets those who ever were trade executors settle, or not. */
export function setExecutors({ rights }: ChainState, areAllowed: boolean): void {
  for (const key of rights.keys()) {
    if (key.startsWith(`${AT.matching} `)) rights.set(key, areAllowed)
  }
}

/** A call that the contracts refuse, by the name of their error. */
export class Revert extends Error {
  override readonly name = 'Revert'
  constructor(readonly error: string) {
    super(error)
  }
}

/** What the manager does first in every change of its accounts. */
export function requireUnpaused({ paused }: ChainState, manager: Address): void {
  if (paused.has(manager)) throw new Revert('BM_AdjustmentsPaused')
}

const reverts = new Map<string, Hex>()

/** The error as contracts encode it; the simulated ones throw none that has arguments a reader would look at. */
export function revertData(name: string): Hex {
  const known = reverts.get(name) ?? encodeRevert(name)
  reverts.set(name, known)
  return known
}

function encodeRevert(name: string): Hex {
  const withArguments: Readonly<Record<string, readonly unknown[]>> = {
    AC_CannotTransferAssetToOneself: [AT.spotModule, 0n],
    ERC721NonexistentToken: [0n],
    Error: ['simulated'],
  }
  const abi: Abi = errorsAbi
  return encodeErrorResult({ abi, errorName: name, args: withArguments[name] ?? [] })
}

/** One taker against one or more makers, as a trade module hands it to its market. */
export interface MatchLegs {
  readonly taker: bigint
  readonly takerIsBid: boolean
  readonly takerFee: bigint
  readonly fills: readonly MakerFill[]
  readonly timestampSec: number
}

export interface MakerFill {
  readonly maker: bigint
  readonly amount: bigint
  readonly price: bigint
  readonly fee: bigint
}

/** A fill of a future as its module reports it. */
export interface BookedFill extends MakerFill {
  readonly taker: bigint
  readonly takerIsBid: boolean
  readonly mark: bigint
  readonly takerVariation: bigint
}
