import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccountIndexer } from '../../../actors/chain-reader/index-accounts.js'
import { KEYS_GOOD_MS, serveAccounts } from '../../../actors/chain-reader/serve-accounts.js'
import {
  decodeOwnerAccountsAnswer,
  decodeSessionKeysAnswer,
  encodeOwnerAccountsQuestion,
  encodeSessionKeysQuestion,
} from '../../../bus-schemas/owner-accounts.js'
import { askOwnerAccounts, askSessionKeys } from '../../../bus-schemas/subjects.js'
import type { ChainHead } from '../../../chain/reads/blocks.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { MAX_LOG_BLOCKS } from '../../../chain/reads/logs.js'
import type { Address, Hex } from '../../../core/action.js'
import type { AccountEvent } from '../../../core/owner-accounts.js'
import { LAST_DATE_SEC } from '../../../core/time.js'
import { openAccountIndex, type AccountIndex } from '../../../data/account-index.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'

const ANN: Address = `0x${'a1'.repeat(20)}`
const MANAGER: Address = `0x${'b2'.repeat(20)}`

/** Registered in block 3. */
const KEY = { owner: ANN, key: `0x${'c3'.repeat(20)}`, expirySec: 5_000n } as const

/** A chain whose blocks each bring one account of Ann's into custody, with the block's number; another branch has other hashes. */
class FakeChain {
  length = 1n
  /** From here on the blocks are of another branch, whose accounts have greater numbers. */
  forkedAt = 2n ** 60n
  reads: [bigint, bigint][] = []
  silent = false
  timestampAt = (n: bigint): bigint => n
  /** Reads of the head. */
  heads = 0
  /** Blocks of a run above which the node refuses it. */
  mostBlocks = MAX_LOG_BLOCKS
  onRead: () => void = () => undefined

  hashAt = (n: bigint): Hex => {
    const branch = n >= this.forkedAt ? this.forkedAt : 0n
    return `0x${branch.toString(16).padStart(16, '0')}${n.toString(16).padStart(48, '0')}`
  }

  head(): ChainHead {
    const number = this.length
    const parentHash = this.hashAt(number - 1n)
    return { number, hash: this.hashAt(number), parentHash, timestamp: this.timestampAt(number) }
  }

  readHead = (): Promise<ChainHead> => {
    this.heads += 1
    return this.silent
      ? Promise.reject(new ChainUnreachable('silent'))
      : Promise.resolve(this.head())
  }

  readBlock = (n: bigint) =>
    n > this.length
      ? Promise.reject(new ChainUnreachable('no such block'))
      : Promise.resolve({ hash: this.hashAt(n), timestamp: this.timestampAt(n) })

  readAccountEvents = (first: bigint, last: bigint) => {
    if (last - first >= this.mostBlocks) return Promise.reject(new ChainUnreachable('too many'))
    this.reads.push([first, last])
    const accounts: AccountEvent[] = []
    for (let n = first; n <= last; n += 1n) {
      const subaccountId = n >= this.forkedAt ? n + 10_000n : n
      accounts.push({
        kind: 'deposited',
        blockNumber: n,
        logIndex: 0,
        subaccountId,
        owner: ANN,
        manager: MANAGER,
      })
    }
    this.onRead()
    const keys = first > 3n || last < 3n ? [] : [{ blockNumber: 3n, logIndex: 1, ...KEY }]
    return Promise.resolve({ accounts, keys })
  }
}

describe('the index of accounts follows the chain', () => {
  let directory: string
  let chain: FakeChain
  let index: AccountIndex
  const open = (): AccountIndex => openAccountIndex(join(directory, 'accounts.db'), 'one')
  const idsOf = (): number[] =>
    (index.find(ANN)?.accounts ?? []).map(({ subaccountId }) => Number(subaccountId))
  const range = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i)

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'accounts-'))
    chain = new FakeChain()
    index = open()
  })
  afterEach(() => {
    index.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const indexer = (firstBlock = 1n) => createAccountIndexer({ index, chain, firstBlock })

  it('from the block of the deployment on, and each block once', async () => {
    chain.length = 9n
    expect(await indexer(4n).advance(chain.head())).to.equal(true)
    chain.length = 11n
    expect(await indexer(4n).advance(chain.head())).to.equal(true)
    expect(await indexer(4n).advance(chain.head())).to.equal(true)
    expect(chain.reads).to.deep.equal([
      [4n, 4n],
      [5n, 9n],
      [10n, 11n],
    ])
    expect(idsOf()).to.deep.equal(range(4, 11))
  })

  it('at any time that a block states: a later one than the last date counts as that', async () => {
    chain.length = 5n
    chain.timestampAt = () => 2n ** 64n - 1n
    await indexer().advance(chain.head())
    expect(index.readTo()).to.include({ number: 5n, timeSec: LAST_DATE_SEC })
  })

  it('in bounded runs, some in a round', async () => {
    chain.length = 5n * MAX_LOG_BLOCKS
    expect(await indexer().advance(chain.head())).to.equal(false)
    expect(await indexer().advance(chain.head())).to.equal(true)
    for (const [first, last] of chain.reads) {
      expect(last - first < MAX_LOG_BLOCKS).to.equal(true)
    }
    expect(index.readTo()?.number).to.equal(chain.length)
  })

  it('in shorter runs where a node refuses those with many events, and in long ones again after it', async () => {
    const rounds = async (): Promise<void> => {
      for (let n = 0; n < 20; n += 1) if (await indexing.advance(chain.head())) return
      expect.fail('it never reaches the head')
    }
    const indexing = indexer()
    ;[chain.length, chain.mostBlocks] = [40n, 3n]
    await rounds()
    expect(idsOf()).to.deep.equal(range(1, 40))
    chain.mostBlocks = MAX_LOG_BLOCKS
    for (let n = 0n; n < 10n; n += 1n) {
      chain.length += 1n
      await rounds()
    }
    chain.length += MAX_LOG_BLOCKS
    await rounds()
    expect(chain.reads.at(-1)).to.deep.equal([51n, 50n + MAX_LOG_BLOCKS])
    chain.mostBlocks = 0n
    chain.length += 8n
    const refused = async (): Promise<unknown> => rounds().catch((error: unknown) => error)
    expect(await refused()).to.be.instanceOf(ChainUnreachable)
    expect(await refused()).to.be.instanceOf(ChainUnreachable)
  })

  it('onto another branch, also one that is shorter for a while (REA-053)', async () => {
    chain.length = 5n
    await indexer().advance(chain.head())
    chain.length = 8n
    await indexer().advance(chain.head())
    // From block 6 on another branch: the block that both have is the fifth.
    chain.forkedAt = 6n
    chain.length = 9n
    await indexer().advance(chain.head())
    expect(idsOf()).to.deep.equal([...range(1, 5), 10_006, 10_007, 10_008, 10_009])
    // Nothing that was read is on the new chain, which is shorter.
    chain.forkedAt = 1n
    chain.length = 7n
    await indexer().advance(chain.head())
    expect(idsOf()).to.deep.equal(range(10_001, 10_007))
    chain.length = 10n
    await indexer().advance(chain.head())
    expect(idsOf()).to.deep.equal(range(10_001, 10_010))
  })

  it('onto another chain that is shorter than all that was read, and does not serve the old one', async () => {
    chain.length = 3_000n
    for (let n = 0; n < 3; n += 1) await indexer(4n).advance(chain.head())
    expect(index.readTo()?.number).to.equal(3_000n)
    chain.forkedAt = 1n
    chain.length = 6n
    await indexer(4n).advance(chain.head())
    expect(idsOf()).to.deep.equal(range(10_004, 10_006))
  })

  it('waits where a node of a pool shows fewer blocks of the same chain', async () => {
    chain.length = 8n
    await indexer().advance(chain.head())
    chain.length = 6n
    expect(await indexer().advance(chain.head())).to.equal(true)
    expect(index.readTo()?.number).to.equal(8n)
    chain.length = 9n
    await indexer().advance(chain.head())
    expect(idsOf()).to.deep.equal(range(1, 9))
  })

  it('reads a run again when its last block was replaced meanwhile', async () => {
    chain.length = 5n
    chain.onRead = () => {
      chain.forkedAt = 5n
      chain.onRead = () => undefined
    }
    const head = chain.head()
    expect(await indexer().advance(head)).to.equal(false)
    expect(await indexer().advance(chain.head())).to.equal(true)
    expect(idsOf()).to.deep.equal([...range(1, 4), 10_005])
  })

  it('is made again when its file was deleted', async () => {
    chain.length = 7n
    await indexer().advance(chain.head())
    const before = index.find(ANN)
    index.close()
    rmSync(directory, { recursive: true })
    directory = mkdtempSync(join(tmpdir(), 'accounts-'))
    index = open()
    await indexer().advance(chain.head())
    expect(index.find(ANN)).to.deep.equal(before)
  })

  it('answers nothing before the newest block was reached, then of accounts also while the chain is silent', async () => {
    const bus = createMemoryBus()
    let nowMs = 0
    chain.silent = true
    chain.length = 3n
    const running = await serveAccounts({
      bus,
      index,
      chain,
      firstBlock: 1n,
      log: silentLog,
      pollMs: 5,
      elapsedMs: () => nowMs,
      onFatal: (error) => expect.fail(String(error)),
    })
    const ask = async () => {
      const question = encodeOwnerAccountsQuestion({ owner: ANN })
      return decodeOwnerAccountsAnswer(await bus.ask(askOwnerAccounts, question, 1_000))
    }
    const askKeys = async () => {
      const other = { owner: MANAGER, key: KEY.key }
      const question = encodeSessionKeysQuestion({ keys: [KEY, other] })
      return decodeSessionKeysAnswer(await bus.ask(askSessionKeys, question, 1_000))
    }
    expect(await ask()).to.deep.equal({})
    expect(await askKeys()).to.deep.equal({})
    chain.silent = false
    await eventually(async () => expect((await ask()).found?.asOf.number).to.equal(3n))
    chain.silent = true
    nowMs += KEYS_GOOD_MS
    expect(await askKeys()).to.deep.equal({ endsSec: [5_000n, 0n] })
    nowMs += 1
    expect(await askKeys(), 'a key may have ended meanwhile (AUT-042)').to.deep.equal({})
    expect((await ask()).found?.accounts).to.have.length(3)
    chain.silent = false
    chain.length = 4n
    await eventually(async () => expect(await askKeys()).to.deep.equal({ endsSec: [5_000n, 0n] }))
    // A node that answers, but stands still.
    const reads = chain.heads
    nowMs += KEYS_GOOD_MS + 1
    await eventually(() => expect(chain.heads).to.be.above(reads + 2))
    expect(await askKeys()).to.deep.equal({})
    // It goes on, but does not tell events.
    chain.mostBlocks = 0n
    chain.length = 5n
    const before = chain.heads
    await eventually(() => expect(chain.heads).to.be.above(before + 2))
    expect(await askKeys()).to.deep.equal({})
    chain.mostBlocks = MAX_LOG_BLOCKS
    await eventually(async () => expect(await askKeys()).to.have.property('endsSec'))
    await running.stop()
    index = open()
  })

  it('answers nothing while it reads the blocks anew that the chain has in place of others', async () => {
    const bus = createMemoryBus()
    chain.length = 5n
    const running = await serveAccounts({
      bus,
      index,
      chain,
      firstBlock: 1n,
      log: silentLog,
      pollMs: 5,
      onFatal: (error) => expect.fail(String(error)),
    })
    const askKeys = async () => {
      const question = encodeSessionKeysQuestion({ keys: [KEY] })
      return decodeSessionKeysAnswer(await bus.ask(askSessionKeys, question, 1_000)).endsSec
    }
    await eventually(async () => expect(await askKeys()).to.deep.equal([5_000n]))
    const answers = new Set<string>()
    chain.mostBlocks = 0n
    ;[chain.forkedAt, chain.length] = [3n, 6n]
    await eventually(async () => {
      answers.add(String(await askKeys()))
      expect(await askKeys(), 'whether the key stands again').to.equal(undefined)
    })
    chain.mostBlocks = MAX_LOG_BLOCKS
    await eventually(async () => {
      answers.add(String(await askKeys()))
      expect(await askKeys()).to.deep.equal([5_000n])
    })
    expect([...answers]).to.not.include('0')
    await running.stop()
    index = open()
  })

  it('answers nothing while it is made anew on another chain, from then on what that has', async () => {
    const bus = createMemoryBus()
    chain.length = 3n
    const running = await serveAccounts({
      bus,
      index,
      chain,
      firstBlock: 1n,
      log: silentLog,
      pollMs: 5,
      onFatal: (error) => expect.fail(String(error)),
    })
    const ask = async () => {
      const question = encodeOwnerAccountsQuestion({ owner: ANN })
      return decodeOwnerAccountsAnswer(await bus.ask(askOwnerAccounts, question, 1_000)).found
    }
    await eventually(async () => expect((await ask())?.accounts).to.have.length(3))
    // Another chain, of which the node refuses to tell more than the first block yet.
    chain.mostBlocks = 0n
    chain.forkedAt = 1n
    chain.length = 5n
    await eventually(async () => expect(await ask()).to.equal(undefined))
    chain.mostBlocks = MAX_LOG_BLOCKS
    await eventually(async () => expect((await ask())?.accounts).to.have.length(5))
    await running.stop()
    index = open()
  })
})
