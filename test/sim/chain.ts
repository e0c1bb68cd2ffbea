import { parseTransaction } from 'viem'
import { bytesToHex, hexToBytes, keccak256, keccakText } from '../../chain/signing/keys.js'
import type { Address, Hex } from '../../core/action.js'
import { SUCCESS, tryAll, type MatchTried } from './batch-contract.js'
import {
  AT,
  copyState,
  emptyState,
  Revert,
  type BookedFill,
  type ChainState,
} from './chain-state.js'
import { tryMatch } from './contracts.js'
import { applyAuthorization, refusersOf, type Authorization } from './delegates.js'
import type { Random } from './random.js'
import type { World } from './world.js'

/** A transaction that a node has been given. */
export interface PooledTransaction {
  readonly hash: Hex
  readonly raw: Hex
  readonly from: Address
  readonly to: Address
  readonly data: Hex
  readonly nonce: number
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Of keys that let code be their own, in a transaction of another sender than the venue. */
  readonly authorizations?: readonly Authorization[]
}

/** A transaction that only carries authorizations, before or after those of the venue in its block. */
export interface Delegation {
  readonly authorizations: readonly Authorization[]
  readonly place: 'first' | 'last'
}

/**
 * A change of state that the venue did not cause: a deposit, a withdrawal, a wallet contract that revokes a signature.
 */
export type Happening = (state: ChainState) => void

export interface MinedReceipt {
  readonly transaction: PooledTransaction
  readonly revert: string | undefined
  /** Of a batch that did not revert as a whole. */
  readonly tried?: readonly MatchTried[]
  /** Fills that trade modules reported. */
  readonly booked: readonly BookedFill[]
  /** The code of keys before it. */
  readonly delegatesBefore: ReadonlyMap<Address, Address>
}

/** Whether the match at this place of the transaction was carried out. */
export function wentThrough({ revert, tried }: MinedReceipt, position: number): boolean {
  return revert === undefined && (tried === undefined || tried[position]?.outcome === SUCCESS)
}

/** The matches that the transaction carried out, as calls of verifyAndMatch. */
export function matchesOf({ transaction, revert, tried }: MinedReceipt): readonly Hex[] {
  if (revert !== undefined || transaction.data === '0x') return []
  if (tried === undefined) return [transaction.data]
  return tried.filter(({ outcome }) => outcome === SUCCESS).map(({ call }) => call)
}

export interface ChainBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestampSec: number
  readonly baseFee: bigint
  /** What a match uses in it. */
  readonly matchGas: bigint
  readonly receipts: readonly MinedReceipt[]
  readonly happenings: readonly Happening[]
  readonly delegations: readonly Delegation[]
  readonly state: ChainState
}

/** A chain without an EVM: blocks, a pool, reorganisations, and contracts that know verifyAndMatch. */
export interface SimulatedChain {
  head(): ChainBlock
  block(number: number): ChainBlock | undefined
  /** Takes a transaction into the pool; what a node would refuse is answered in a node's words. */
  send(raw: Hex): { readonly hash: Hex } | { readonly error: string }
  /** A foreign transaction: signed with the sender's key outside the venue, at the next nonce of the chain. To itself by default. */
  sendForeign(to?: Address): void
  find(
    hash: Hex,
  ):
    | { readonly block: ChainBlock; readonly receipt: MinedReceipt; readonly index: number }
    | undefined
  pooled(hash: Hex): PooledTransaction | undefined
  /** Mines the next block. */
  mine(): void
  /** Replaces the newest blocks by as many and one more. */
  reorganise(depth: number): void
  /** Whether the chain has ever lost a block. */
  wasReorganised(): boolean
  /** Is mined in the next block. */
  delegate(delegation: Delegation): void
  /** Called before each block that will have a transaction of the venue: an attacker sees what waits. */
  setAmbush(ambush: (() => void) | undefined): void
  /** Happens in the next block. */
  happen(happening: Happening): void
  /** Drops what waits, each with this probability; answers how many. */
  dropPooled(probability: number): number
  setBaseFee(wei: bigint): void
  /** Whether matches use more gas in some blocks than in others. */
  setHunger(hungry: boolean): void
  poolSize(): number
  /** Whether the code at a signer has ever refused a signature in a block. */
  hasRefused(signer: Address): boolean
  /** Whether a key has ever delegated to code, which may vouch for what the key has not signed. */
  hasDelegated(signer: Address): boolean
  /** The blocks mined last, those that the chain has lost included. */
  recent(): readonly ChainBlock[]
  /** Every hash the node was ever given. */
  readonly everSeen: ReadonlySet<Hex>
}

export interface ChainOptions {
  readonly world: World
  readonly random: Random
  /** Who alone signs transactions here. */
  readonly sender: Address
  readonly genesis: (state: ChainState) => void
  /** What a match uses. */
  readonly matchGas: bigint
}

export const NORMAL_BASE_FEE = 1_000_000_000n
/** How many times its gas a match uses in a block, while they use more in some. */
const HUNGER = [1n, 2n, 3n, 5n]
const BLOCK_MAX_TRANSACTIONS = 40
/** More than an executor that waits for its node can be behind. */
const RECENT_BLOCKS = 40

export function createChain(options: ChainOptions): SimulatedChain {
  const { world, random, sender } = options
  const state = emptyState()
  options.genesis(state)
  const blocks: ChainBlock[] = [genesisBlock(world, state, options.matchGas)]
  const recent = [...blocks]
  const pool = new Map<number, PooledTransaction>()
  const everSeen = new Set<Hex>()
  const inBlocks = new Map<Hex, number>()
  let waiting: Happening[] = []
  let delegations: Delegation[] = []
  let ambush: (() => void) | undefined
  let baseFee = NORMAL_BASE_FEE
  let hungry = false
  let forks = 0
  const refusers = new Set<Address>()
  const delegators = new Set<Address>()

  const head = (): ChainBlock => blocks.at(-1) as ChainBlock

  function append(
    { happenings, delegations }: Pick<ChainBlock, 'happenings' | 'delegations'>,
    timestampSec: number,
    mayMine: boolean,
  ): void {
    const parent = head()
    const next = copyState(parent.state)
    for (const happening of happenings) happening(next)
    refusersOf(next).forEach((signer) => refusers.add(signer))
    const receipts: MinedReceipt[] = []
    const seed = `${parent.hash} ${parent.number + 1} ${forks}`
    const matchGas = options.matchGas * (hungry ? random.pick(HUNGER) : 1n)
    const delegate = (place: Delegation['place']): void => {
      for (const [i, delegation] of delegations.entries()) {
        if (delegation.place !== place) continue
        const transaction = delegating(delegation, `${seed} ${i}`, next)
        const delegatesBefore = new Map(next.delegates)
        delegation.authorizations.forEach((each) => applyAuthorization(next, each))
        refusersOf(next).forEach((signer) => refusers.add(signer))
        next.delegates.forEach((_, signer) => delegators.add(signer))
        receipts.push({ transaction, revert: undefined, booked: [], delegatesBefore })
        inBlocks.set(transaction.hash, parent.number + 1)
      }
    }
    delegate('first')
    while (mayMine && receipts.length < BLOCK_MAX_TRANSACTIONS) {
      const nonce = next.nonces.get(sender) ?? 0
      const transaction = pool.get(nonce)
      if (transaction === undefined || transaction.maxFeePerGas < baseFee) break
      pool.delete(nonce)
      next.nonces.set(sender, nonce + 1)
      const receipt = execute(next, transaction, { matchGas, timestampSec })
      receipts.push(receipt)
      world.note(`block ${parent.number + 1}: nonce ${nonce} ${describe(receipt)}`)
      inBlocks.set(transaction.hash, parent.number + 1)
    }
    delegate('last')
    for (const nonce of [...pool.keys()]) {
      if (nonce < (next.nonces.get(sender) ?? 0)) pool.delete(nonce)
    }
    const block: ChainBlock = {
      number: parent.number + 1,
      hash: bytesToHex(keccakText(seed)),
      parentHash: parent.hash,
      timestampSec,
      baseFee,
      matchGas,
      receipts,
      happenings,
      delegations,
      state: next,
    }
    blocks.push(block)
    recent.push(block)
    if (recent.length > RECENT_BLOCKS) recent.shift()
  }

  function mine(): void {
    if (pool.size > 0) ambush?.()
    const own = { happenings: waiting, delegations }
    waiting = []
    delegations = []
    const timestampSec = Math.max(head().timestampSec + 1, Math.floor(world.nowMs() / 1_000))
    append(own, timestampSec, !random.chance(0.1))
  }

  function reorganise(depth: number): void {
    const removed = blocks.splice(Math.max(1, blocks.length - depth))
    forks += 1
    for (const { receipts } of removed) {
      for (const { transaction } of receipts) {
        inBlocks.delete(transaction.hash)
        if (transaction.authorizations !== undefined) continue
        if (random.chance(0.7)) pool.set(transaction.nonce, transaction)
      }
    }
    const delayed = random.int(removed.length + 1)
    for (const [index, old] of removed.entries()) {
      append(old, old.timestampSec, index >= delayed)
    }
    mine()
  }

  function send(raw: Hex): { hash: Hex } | { error: string } {
    const hash = bytesToHex(keccak256(hexToBytes(raw)))
    everSeen.add(hash)
    if (inBlocks.has(hash)) return { error: 'already known' }
    const { to, data, nonce = 0, gas, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(raw)
    const fees = { gas: gas ?? 0n, maxFeePerGas: maxFeePerGas ?? 0n }
    const transaction: PooledTransaction = {
      hash,
      raw,
      from: sender,
      to: to as Address,
      data: data ?? '0x',
      nonce,
      ...fees,
      maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n,
    }
    if (nonce < (head().state.nonces.get(sender) ?? 0)) return { error: 'nonce too low' }
    const there = pool.get(nonce)
    if (there?.hash === hash) return { error: 'already known' }
    if (there !== undefined && !outbids(transaction, there)) {
      return { error: 'replacement transaction underpriced' }
    }
    pool.set(nonce, transaction)
    return { hash }
  }

  return {
    head,
    block: (number) => blocks[number],
    send,
    sendForeign(to = sender) {
      const nonce = head().state.nonces.get(sender) ?? 0
      const hash = bytesToHex(keccakText(`foreign ${nonce} ${forks} ${head().hash}`))
      const fee = NORMAL_BASE_FEE * 1_000n
      pool.set(nonce, {
        hash,
        raw: '0x',
        from: sender,
        to,
        data: '0x',
        nonce,
        gas: 21_000n,
        maxFeePerGas: fee,
        maxPriorityFeePerGas: fee,
      })
    },
    find(hash) {
      const block = blocks[inBlocks.get(hash) ?? -1]
      const index = block?.receipts.findIndex(({ transaction }) => transaction.hash === hash) ?? -1
      const receipt = block?.receipts[index]
      return block === undefined || receipt === undefined ? undefined : { block, receipt, index }
    },
    pooled: (hash) => [...pool.values()].find((transaction) => transaction.hash === hash),
    mine,
    reorganise,
    wasReorganised: () => forks > 0,
    happen: (happening) => void waiting.push(happening),
    delegate: (delegation) => void delegations.push(delegation),
    setAmbush: (next) => void (ambush = next),
    dropPooled(probability) {
      let dropped = 0
      for (const nonce of [...pool.keys()]) {
        if (random.chance(probability) && pool.delete(nonce)) dropped += 1
      }
      return dropped
    },
    setBaseFee: (wei) => void (baseFee = wei),
    setHunger: (value) => void (hungry = value),
    poolSize: () => pool.size,
    hasRefused: (signer) => refusers.has(signer),
    hasDelegated: (signer) => delegators.has(signer),
    recent: () => recent,
    everSeen,
  }
}

/** A failed call leaves nothing behind but its nonce. */
function execute(
  state: ChainState,
  transaction: PooledTransaction,
  block: { readonly matchGas: bigint; readonly timestampSec: number },
): MinedReceipt {
  const { data, to } = transaction
  const delegatesBefore = new Map(state.delegates)
  const nothing = { transaction, revert: undefined, booked: [], delegatesBefore }
  if (data === '0x') return nothing
  if (to !== AT.batchExecutor) {
    return { ...nothing, ...tryMatch(state, { ...transaction, ...block }) }
  }
  try {
    const tried = tryAll(state, { ...transaction, ...block })
    return { ...nothing, tried, booked: tried.flatMap(({ booked }) => booked) }
  } catch (error) {
    if (error instanceof Revert) return { ...nothing, revert: error.error }
    throw error
  }
}

/** Sent by another key than the venue's. */
const RELAYER: Address = `0x${'de'.repeat(20)}`

function delegating(
  { authorizations }: Delegation,
  seed: string,
  state: ChainState,
): PooledTransaction {
  const nonce = state.nonces.get(RELAYER) ?? 0
  state.nonces.set(RELAYER, nonce + 1)
  return {
    hash: bytesToHex(keccakText(`delegation ${seed}`)),
    raw: '0x',
    data: '0x',
    nonce,
    from: RELAYER,
    to: RELAYER,
    gas: 100_000n,
    authorizations,
    maxFeePerGas: NORMAL_BASE_FEE,
    maxPriorityFeePerGas: 1n,
  }
}

function describe({ transaction, revert, tried }: MinedReceipt): string {
  const outcomes = tried?.map(({ outcome }) => outcome).join('')
  return `${transaction.hash.slice(0, 10)} ${revert ?? outcomes ?? 'succeeds'}`
}

/** A node takes a replacement only when it pays a tenth more in both respects. */
function outbids(offer: PooledTransaction, there: PooledTransaction): boolean {
  const enough = (now: bigint, before: bigint): boolean => now * 10n >= before * 11n
  return (
    enough(offer.maxFeePerGas, there.maxFeePerGas) &&
    enough(offer.maxPriorityFeePerGas, there.maxPriorityFeePerGas)
  )
}

function genesisBlock(world: World, state: ChainState, matchGas: bigint): ChainBlock {
  return {
    number: 0,
    hash: bytesToHex(keccakText('genesis')),
    parentHash: `0x${'0'.repeat(64)}`,
    timestampSec: Math.floor(world.nowMs() / 1_000),
    baseFee: NORMAL_BASE_FEE,
    matchGas,
    receipts: [],
    happenings: [],
    delegations: [],
    state,
  }
}
