import type { GasFacts } from '../../../chain/sender/gas.js'
import type { SentCall } from '../../../chain/sender/investigate.js'
import type { HeadBlock, SenderChain } from '../../../chain/sender/sender-chain.js'
import type { OpenTransaction } from '../../../core/transaction-journal.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import type { Hex } from '../../../core/action.js'

/** One transaction of the key in a block. */
export interface ScriptedTransaction {
  readonly hash: Hex
  readonly evmNonce: number
  readonly status: 'success' | 'reverted'
  readonly call?: SentCall
}

interface Block extends HeadBlock {
  readonly transactions: readonly ScriptedTransaction[]
  /** Nonces used at its end. */
  readonly count: number
}

/** How a node misbehaves when it is asked. */
export interface Lies {
  /** It gives no answer. */
  silent: boolean
  /** It is so many blocks late. */
  late: number
  /** It has no receipts. */
  forgetful: boolean
  /** It stands on the branch that lost. */
  stale: boolean
}

export interface ScriptedChain {
  /** What the sender sees. */
  readonly chain: SenderChain
  /** Lies of the next answer; none unless set. */
  lies: () => Partial<Lies>
  gas: GasFacts
  /** A block with what of the pool follows the used nonces, at most `limit`, each reverting when it says so. */
  readonly mine: (reverts?: (transaction: OpenTransaction) => boolean, limit?: number) => void
  /** A block without any transaction. */
  readonly mineEmpty: () => void
  /** A block with a foreign transaction at the key's next nonce, or that of this hash again; answers its hash. */
  readonly mineForeign: (of?: { readonly call?: SentCall; readonly hash?: Hex }) => Hex
  /** Drops the last blocks and puts an empty one more in their place; their transactions are in the pool or nowhere. */
  readonly reorg: (depth: number, keepPool: boolean) => void
  /** Drops the last blocks, as a node restored from a copy does. */
  readonly rollBack: (depth: number) => void
  readonly dropPool: () => void
  readonly pooled: () => readonly OpenTransaction[]
  readonly height: () => number
  readonly count: () => number
  /** The chain's own transactions, oldest first. */
  readonly canonical: () => readonly ScriptedTransaction[]
  /** Everything that was sent, in order; every raw form once for each time. */
  readonly sent: readonly { readonly evmNonce: number; readonly hash: Hex }[]
  /** Hears of what is about to be sent. */
  onSend: (transaction: OpenTransaction) => void
}

export const SCRIPTED_GAS: GasFacts = {
  maxFeePerGas: 4_010n,
  maxPriorityFeePerGas: 10n,
  baseFeePerGas: 1_000n,
  blockGasLimit: 60_000_000n,
  balance: 10n ** 24n,
}

const NO_CALL: SentCall = { to: null, data: '0x' }

/** A chain that does what the test says, one key's transactions only. */
export function createScriptedChain(): ScriptedChain {
  let made = 0
  const hash = (): Hex => `0x${(++made).toString(16).padStart(64, 'c')}`
  const genesis: Block = { number: 0n, hash: hash(), transactions: [], count: 0 }
  let blocks = [genesis]
  let lost: Block[] = blocks
  const everMined = new Map<Hex, number>()
  const pool = new Map<number, OpenTransaction>()
  /** Whatever was sent once, in its newest form. */
  const known = new Map<number, OpenTransaction>()
  const sent: { evmNonce: number; hash: Hex }[] = []
  const lastOf = (of: readonly Block[]): Block => of.at(-1) ?? genesis

  function push(transactions: readonly ScriptedTransaction[]): void {
    const { number, count } = lastOf(blocks)
    const block = { number: number + 1n, hash: hash(), transactions }
    blocks = [...blocks, { ...block, count: count + transactions.length }]
    everMined.set(block.hash, count + transactions.length)
    for (const { evmNonce } of transactions) pool.delete(evmNonce)
  }
  everMined.set(genesis.hash, 0)

  /** What the asked node knows, or nothing at all. */
  function ask<Answer>(answer: (seen: readonly Block[], lies: Partial<Lies>) => Answer) {
    const lies = scripted.lies()
    if (lies.silent === true) return Promise.reject(new ChainUnreachable('silent'))
    const branch = lies.stale === true ? lost : blocks
    const seen = branch.slice(0, Math.max(1, branch.length - (lies.late ?? 0)))
    return Promise.resolve(answer(seen, lies))
  }

  const findIn = (seen: readonly Block[], matches: (it: ScriptedTransaction) => boolean) =>
    seen.flatMap((block) => block.transactions.filter(matches).map((it) => ({ block, it }))).at(0)

  const chain: SenderChain = {
    head: () => ask((seen) => lastOf(seen)),
    countAt: (blockHash) =>
      ask(() => everMined.get(blockHash)).then((count) => {
        if (count === undefined) throw new ChainUnreachable('no such block')
        return count
      }),
    blockHash: (height) => ask((seen) => seen.find(({ number }) => number === height)?.hash),
    finalized: () => ask((seen) => lastOf(seen).number - 12n),
    receipt: ({ attempts }) =>
      ask((seen, { forgetful }) => {
        if (forgetful === true) return undefined
        const found = findIn(seen, (it) => attempts.some((attempt) => attempt.hash === it.hash))
        if (found === undefined) return undefined
        const { status, hash: minedHash } = found.it
        const { number: blockNumber, hash: blockHash } = found.block
        return { status, hash: minedHash, blockNumber, blockHash, to: null, logs: [] }
      }),
    receiptsIn: ({ from, to }, mined) =>
      ask((seen, { forgetful }) => {
        const inSpan = seen.filter(({ number }) => number >= from && number <= to)
        const receipts = mined.flatMap(({ evmNonce, attempts }) => {
          const isIt = (it: ScriptedTransaction) => attempts.some(({ hash }) => hash === it.hash)
          const found = forgetful === true ? undefined : findIn(inSpan, isIt)
          if (found?.it.status !== 'success') return []
          const { number: blockNumber, hash: blockHash } = found.block
          const place = { hash: found.it.hash, blockNumber, blockHash, to: null, logs: [] }
          return [[evmNonce, { status: 'success' as const, ...place }] as const]
        })
        return new Map(receipts)
      }).catch(() => new Map()),
    revertOf: () => Promise.resolve('scripted'),
    isHeld: (wanted) =>
      ask((seen) => {
        const pooled = [...pool.values()].some((it) => it.attempts.some((a) => a.hash === wanted))
        return pooled || findIn(seen, (it) => it.hash === wanted) !== undefined
      }),
    consumerOf: (evmNonce) =>
      ask((seen) => {
        const found = findIn(seen, (it) => it.evmNonce === evmNonce)
        if (found === undefined) return undefined
        const { number: blockNumber, hash: blockHash } = found.block
        const by = { hash: found.it.hash, blockNumber, blockHash }
        return { by, call: found.it.call ?? NO_CALL }
      }),
    gas: () => ask(() => scripted.gas),
    send: (transaction) => {
      scripted.onSend(transaction)
      known.set(transaction.evmNonce, transaction)
      const newest = transaction.attempts.at(-1)
      if (newest === undefined) throw new Error('nothing signed was sent')
      sent.push({ evmNonce: transaction.evmNonce, hash: newest.hash })
      const unclear = { kind: 'unclear', cause: new Error('no answer') } as const
      if (scripted.lies().silent === true) return Promise.resolve(unclear)
      if (transaction.evmNonce < lastOf(blocks).count) return Promise.resolve(unclear)
      pool.set(transaction.evmNonce, transaction)
      return Promise.resolve({ kind: 'taken' })
    },
  }

  const scripted: ScriptedChain = {
    chain,
    lies: () => ({}),
    gas: SCRIPTED_GAS,
    mine(reverts = () => false, limit = Infinity) {
      const mined: ScriptedTransaction[] = []
      const first = lastOf(blocks).count
      for (let evmNonce = first; evmNonce - first < limit; evmNonce += 1) {
        const transaction = pool.get(evmNonce)
        const newest = transaction?.attempts.at(-1)
        if (transaction === undefined || newest === undefined) break
        const status = reverts(transaction) ? 'reverted' : 'success'
        mined.push({ hash: newest.hash, evmNonce, status })
      }
      push(mined)
    },
    mineEmpty: () => push([]),
    mineForeign({ call = NO_CALL, hash: foreign = hash() } = {}) {
      const evmNonce = lastOf(blocks).count
      push([{ hash: foreign, evmNonce, status: 'success', call }])
      return foreign
    },
    reorg(depth, keepPool) {
      lost = blocks
      const sends = new Map<Hex, OpenTransaction>()
      for (const transaction of known.values()) {
        for (const attempt of transaction.attempts) sends.set(attempt.hash, transaction)
      }
      const dropped = blocks.slice(Math.max(1, blocks.length - depth))
      blocks = blocks.slice(0, Math.max(1, blocks.length - depth))
      if (keepPool) {
        for (const { hash: minedHash, evmNonce } of dropped.flatMap((it) => it.transactions)) {
          const transaction = sends.get(minedHash)
          if (transaction !== undefined) pool.set(evmNonce, transaction)
        }
      }
      for (let n = 0; n <= dropped.length; n += 1) push([])
    },
    rollBack(depth) {
      lost = blocks
      blocks = blocks.slice(0, Math.max(1, blocks.length - depth))
    },
    dropPool: () => pool.clear(),
    pooled: () => [...pool.values()],
    height: () => blocks.length - 1,
    count: () => lastOf(blocks).count,
    canonical: () => blocks.flatMap(({ transactions }) => transactions),
    sent,
    onSend: () => undefined,
  }
  return scripted
}
